import { PassThrough } from "node:stream"
import { text } from "node:stream/consumers"
import type { Runtime } from "../../src/app.ts"
import type { Command, TaskContext } from "../../src/cli/command/command.ts"
import { openDesk } from "../../src/cli/start/person-desk.ts"
import { createLineScreen } from "../../src/cli/screen/create-screen.ts"

/** What a command for tasks prints into a pipe. */
export async function showCommand(
  command: Command<TaskContext>,
  argument: string,
  meanwhile: Runtime,
  changes: Partial<TaskContext> = {},
): Promise<string> {
  const output = new PassThrough()
  const screen = createLineScreen(output)
  const { signal } = new AbortController()
  const desk = changes.desk ?? openDesk(meanwhile)
  const context = { meanwhile, screen, signal, prefix: "/", words: "meanwhile", own: null, announceEnd() {} }
  await command.run(argument, { ...context, ...changes, desk })
  output.end()
  return text(output)
}
