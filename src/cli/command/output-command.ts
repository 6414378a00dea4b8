import { plainLines } from "../format/format.ts"
import { createLineBuffer } from "../screen/line-buffer.ts"
import type { Screen } from "../screen/screen.ts"
import { type Command, type TaskContext, toUnknownArgument } from "./command.ts"
import { followOutput, type OutputSink } from "./follow-output.ts"
import { requireId } from "./task-commands.ts"

export const outputCommand: Command<TaskContext> = {
  name: "output",
  usage: "output ID [--follow]",
  summary: "show the output of a task; with --follow until it ends; Ctrl+C stops showing",
  async run(argument, context) {
    const words = argument.split(/\s+/).filter((word) => word !== "")
    const [id = "", ...more] = words.filter((word) => word !== "--follow")
    const unknown = id.startsWith("-") ? id : more[0]
    if (unknown !== undefined) throw toUnknownArgument(outputCommand.usage, unknown)
    if (requireId(id, "output", context.screen))
      await followOutput(id, words.includes("--follow"), context, toSink(context.screen))
  },
}

/** A live screen gets whole lines: it breaks lines at its width anyway, and an answer may be written beside them. */
export function toSink(screen: Screen, tell = (line: string): void => screen.print(line)): OutputSink {
  if (!screen.isLive) return { tell, write: (text) => screen.write(plainLines(text)), end: () => screen.endLine() }
  const lines = createLineBuffer((ended) => screen.print(ended.join("\n")))
  return { tell, write: (text) => lines.push(plainLines(text)), end: () => lines.flush() }
}
