import type { TaskContext } from "./command.ts"

/** Takes the output of a task. */
export interface OutputSink {
  /** Default `utf8`. With `latin1`, `write` gets one character for every byte. */
  readonly encoding?: "latin1"
  /** Takes a piece of output as it was printed. A piece may end anywhere in a line. */
  write(text: string): void
  /** Says something about the output, as a line. */
  tell(line: string): void
  /** Called when no more output comes. */
  end(): void
}

/** Hands on all that a task has printed and, if it is followed, what it prints until its end. The signal stops it. */
export async function followOutput(
  id: string,
  isFollowing: boolean,
  { desk, signal }: Pick<TaskContext, "desk" | "signal">,
  sink: OutputSink,
): Promise<void> {
  const { encoding = "utf8" } = sink
  const until = isFollowing ? "ended" : "now"
  let isFirst = true
  let restartedAt: number | null = null
  let hasPrinted = false
  let isComplete = false
  for await (const chunk of desk.tasks.followOutput(id, { offset: 0, encoding, until, signal })) {
    if (isFirst) tellDropped(chunk.droppedBefore, sink)
    isFirst = false
    if (chunk.restartedAt !== restartedAt) sink.tell("(its worker was lost; from here on it is run again)")
    restartedAt = chunk.restartedAt
    if (chunk.text !== "") sink.write(chunk.text)
    hasPrinted ||= chunk.text !== "" || chunk.droppedBefore !== null
    isComplete = chunk.isComplete
  }
  sink.end()
  if (!hasPrinted) sink.tell(isComplete ? "(it printed nothing)" : "(it has printed nothing yet)")
}

function tellDropped(before: number | "all" | null, sink: OutputSink): void {
  if (before === "all") sink.tell("(its output is no longer kept)")
  else if (before !== null) sink.tell(`(the first ${before} bytes are no longer kept)`)
}
