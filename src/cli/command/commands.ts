import type { ScreenRuntime } from "../../program/open-program.ts"
import { findNearNames } from "../../base/near-name.ts"
import { toLine } from "../format/format.ts"
import { wrapWords } from "../screen/wrap-words.ts"
import { agentsCommand } from "./agents-command.ts"
import { backgroundCommand } from "./background-command.ts"
import { cancelCommand } from "./cancel-command.ts"
import { clearCommand } from "./clear-command.ts"
import type { Command } from "./command.ts"
import { contextCommand, modelCommand, resetCommand, toolsCommand } from "./conversation-commands.ts"
import { groupsCommand } from "./groups-command.ts"
import { answerCommand, inboxCommand } from "./inbox-commands.ts"
import { limitCommand } from "./limit-command.ts"
import { outputCommand } from "./output-command.ts"
import { runCommand, startCommand } from "./run-commands.ts"
import { retryCommand, taskCommand, tasksCommand } from "./task-commands.ts"
import { tellCommand } from "./tell-command.ts"
import { workersCommand } from "./workers-command.ts"

/** The column of summaries lies behind a usage of this width; a longer usage moves only its own summary. */
const WIDEST_USAGE = 29

const quitCommand: Command = {
  name: "quit",
  usage: "quit",
  summary: "cancel running tasks and leave; a running turn goes on elsewhere, or at the next start",
  run: async () => "quit",
}

const helpCommand: Command = {
  name: "help",
  usage: "help [COMMAND]",
  summary: "show this list, or explain one command",
  async run(argument, { meanwhile, screen }) {
    const wanted = argument.replace(/^\//, "")
    if (wanted !== "") return screen.print(describeOne(wanted, meanwhile))
    const own = COMMANDS.map(({ usage, summary }) => [`/${usage}`, summary] as const)
    const fromPlugins = pluginCommands(meanwhile).map(toPluginRow)
    const width = Math.min(WIDEST_USAGE, Math.max(...[...own, ...fromPlugins].map(([usage]) => usage.length)))
    const format = (rows: readonly HelpRow[]): string =>
      rows
        .map(([usage, summary]) => `  ${usage.padEnd(width)}  ${summary}`)
        .map((line) => (screen.isLive ? wrapWords(line, screen.columns, width + 4) : line))
        .join("\n")
    screen.print("A line without a slash is said to the model; one that ends with \\ goes on with the next.")
    screen.print(`Commands:\n${format(own)}`)
    if (fromPlugins.length > 0) screen.print(`From plugins:\n${format(fromPlugins)}`)
  },
}

type HelpRow = readonly [usage: string, summary: string]

function describeOne(name: string, meanwhile: ScreenRuntime): string {
  const own = findCommand(name)
  if (own) return `/${own.usage}: ${own.summary}`
  const owned = findPluginCommand(name, meanwhile)
  return owned ? toPluginRow(owned).join(": ") : describeUnknown(name, meanwhile)
}

function toPluginRow({ command }: PluginCommand): HelpRow {
  return [toLine(`/${command.name} ${command.usage}`), toLine(command.description)]
}

/** The commands of the program itself, in the order of `/help`. */
const COMMANDS: readonly Command[] = [
  tasksCommand,
  taskCommand,
  outputCommand,
  backgroundCommand,
  tellCommand,
  cancelCommand,
  retryCommand,
  limitCommand,
  clearCommand,
  groupsCommand,
  workersCommand,
  inboxCommand,
  answerCommand,
  runCommand,
  startCommand,
  agentsCommand,
  toolsCommand,
  modelCommand,
  contextCommand,
  resetCommand,
  helpCommand,
  quitCommand,
]

/** Words that people try, and the commands that they mean. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  exit: "quit",
  q: "quit",
  bye: "quit",
  show: "task",
  background: "bg",
  "?": "help",
}

/** Capital and small letters are the same. */
export function findCommand(name: string): Command | undefined {
  const wanted = name.toLowerCase()
  return COMMANDS.find((command) => command.name === (OTHER_NAMES[wanted] ?? wanted))
}

/** Commands of plugins, without those that a command of the program hides. */
function pluginCommands({ plugins }: ScreenRuntime): ReturnType<ScreenRuntime["plugins"]["userCommands"]> {
  return plugins.userCommands().filter(({ command }) => !findCommand(command.name))
}

/** Commands of plugins that cannot be reached, because another command has their name. */
export function hiddenCommands({ plugins }: ScreenRuntime): readonly PluginCommand[] {
  const known = new Set<string>()
  return plugins.userCommands().filter(({ command }) => {
    const name = command.name.toLowerCase()
    const isHidden = findCommand(name) !== undefined || known.has(name)
    known.add(name)
    return isHidden
  })
}

type PluginCommand = ReturnType<typeof pluginCommands>[number]

/** Capital and small letters are the same. */
export function findPluginCommand(name: string, meanwhile: ScreenRuntime): PluginCommand | undefined {
  const wanted = name.toLowerCase()
  return pluginCommands(meanwhile).find(({ command }) => command.name.toLowerCase() === wanted)
}

export function describeUnknown(name: string, meanwhile: ScreenRuntime): string {
  const names = [...COMMANDS, ...pluginCommands(meanwhile).map(({ command }) => command)].map((each) => each.name)
  const near = findNearNames(name, names).map((each) => `/${toLine(each)}`)
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "/help lists all commands."
  return `There is no command /${toLine(name)}. ${hint}`
}
