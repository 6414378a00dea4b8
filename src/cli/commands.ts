import type { Command } from "./command.ts"
import { outputCommand } from "./output-command.ts"
import { runCommand, startCommand } from "./run-commands.ts"
import { cancelCommand, clearCommand, quitCommand, retryCommand, showCommand, tasksCommand } from "./task-commands.ts"

const helpCommand: Command = {
  name: "help",
  usage: "help",
  summary: "show this list",
  async run(_argument, { screen }) {
    const width = Math.max(...COMMANDS.map(({ usage }) => usage.length))
    screen.print(COMMANDS.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`).join("\n"))
  },
}

/** All the words the prompt understands, in the order in which `help` lists them. */
export const COMMANDS: readonly Command[] = [
  runCommand,
  startCommand,
  tasksCommand,
  showCommand,
  outputCommand,
  cancelCommand,
  retryCommand,
  clearCommand,
  helpCommand,
  quitCommand,
]

export function findCommand(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name)
}
