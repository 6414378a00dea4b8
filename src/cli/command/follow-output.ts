import { setImmediate } from "node:timers/promises"
import type { TaskContext } from "./command.ts"

const FOLLOW_EVERY_MS = 100

/** Where what a task has printed goes. */
export interface OutputSink {
  /** Default `utf8`. As `latin1` it is given a character for every byte. */
  readonly encoding?: "latin1"
  /** As it was printed: a piece may end anywhere in a line. */
  write(text: string): void
  /** What is said about it, as a line. */
  tell(line: string): void
  /** Nothing more comes. */
  end(): void
}

/** Hands on all that a task has printed, until the signal is aborted; when it is followed, until it has ended. */
export async function followOutput(
  id: string,
  isFollowing: boolean,
  { meanwhile, signal }: Pick<TaskContext, "meanwhile" | "signal">,
  sink: OutputSink,
): Promise<void> {
  const { encoding = "utf8" } = sink
  let hasPrinted = false
  for (let offset = 0; ; ) {
    const chunk = await meanwhile.tasks.output(id, { offset, encoding })
    if (offset === 0) tellDropped(chunk.droppedBefore, sink)
    if (chunk.text !== "") sink.write(chunk.text)
    hasPrinted ||= chunk.text !== "" || chunk.droppedBefore !== null
    const isAtEnd = chunk.nextOffset >= chunk.totalBytes || chunk.nextOffset <= offset
    offset = chunk.nextOffset
    if (!isAtEnd) {
      // Reading a file gives way to nobody: without this no key is heard, and no lease renewed, before the end.
      await setImmediate()
      if (signal.aborted) return sink.end()
      continue
    }
    if (!isFollowing || chunk.isComplete || signal.aborted) {
      sink.end()
      if (!hasPrinted) sink.tell(chunk.isComplete ? "(it printed nothing)" : "(it has printed nothing yet)")
      return
    }
    await pause(FOLLOW_EVERY_MS, signal)
  }
}

function tellDropped(before: number | "all" | null, sink: OutputSink): void {
  if (before === "all") sink.tell("(its output is no longer kept)")
  else if (before !== null) sink.tell(`(the first ${before} bytes are no longer kept)`)
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
