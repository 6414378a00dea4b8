import { plainLines } from "../format.ts"
import { createLineBuffer } from "../screen/line-buffer.ts"
import type { Command, TaskContext } from "./command.ts"
import { requireId } from "./task-commands.ts"

const FOLLOW_EVERY_MS = 100

export const outputCommand: Command<TaskContext> = {
  name: "output",
  usage: "output ID [--follow]",
  summary: "show what a task has printed; with --follow, until it ends or Ctrl+C",
  async run(argument, context) {
    const words = argument.split(/\s+/).filter((word) => word !== "")
    const id = words.find((word) => !word.startsWith("-")) ?? ""
    const unknown = words.find((word) => word.startsWith("-") && word !== "--follow")
    if (unknown) {
      context.screen.print(`There is no option ${unknown}. Usage: /${outputCommand.usage}`)
      return
    }
    if (requireId(id, "output", context.screen)) await showOutput(id, words.includes("--follow"), context)
  },
}

async function showOutput(id: string, isFollowing: boolean, { meanwhile, screen, signal }: TaskContext): Promise<void> {
  const output = createLineBuffer((lines) => screen.print(lines.join("\n")))
  let hasPrinted = false
  for (let offset = 0; ; ) {
    const chunk = await meanwhile.tasks.output(id, { offset })
    if (offset === 0) tellDropped(chunk.droppedBefore, screen)
    output.push(plainLines(chunk.text))
    hasPrinted ||= chunk.text !== "" || chunk.droppedBefore !== null
    const isAtEnd = chunk.nextOffset >= chunk.totalBytes || chunk.nextOffset <= offset
    offset = chunk.nextOffset
    if (!isAtEnd) continue
    if (!isFollowing || chunk.isComplete || signal.aborted) {
      output.flush()
      if (!hasPrinted) screen.print(chunk.isComplete ? "(it printed nothing)" : "(it has printed nothing yet)")
      return
    }
    await pause(FOLLOW_EVERY_MS, signal)
  }
}

function tellDropped(before: number | "all" | null, screen: TaskContext["screen"]): void {
  if (before === "all") screen.print("(its output is no longer kept)")
  else if (before !== null) screen.print(`(the first ${before} bytes are no longer kept)`)
}

function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, durationMs)
    function finish(): void {
      clearTimeout(timer)
      signal.removeEventListener("abort", finish)
      resolve()
    }
    signal.addEventListener("abort", finish)
  })
}
