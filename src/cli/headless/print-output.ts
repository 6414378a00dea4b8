import type { TaskContext } from "../command/command.ts"
import { followOutput, type OutputSink } from "../command/follow-output.ts"
import { tellAside } from "../start/find-engine.ts"
import { formatAnnouncement, plainLines } from "../format/format.ts"

/** Prints the output of a task and nothing else; words about it go to standard error. */
export async function printOutput(id: string, isFollowing: boolean, context: TaskContext): Promise<void> {
  await followOutput(id, isFollowing, context, process.stdout.isTTY ? toTerminal(context.screen) : PIPE)
  if (!isFollowing || context.signal.aborted) return
  const { task } = await context.desk.tasks.find(id)
  if ("endedAt" in task && task.status !== "completed") tellAside(formatAnnouncement(task))
}

/** The reader of a pipe gets the output byte by byte, without a line end that nobody printed. */
const PIPE: OutputSink = {
  encoding: "latin1",
  tell: tellAside,
  write: (bytes) => void process.stdout.write(bytes, "latin1"),
  end() {},
}

function toTerminal(screen: TaskContext["screen"]): OutputSink {
  return { tell: tellAside, write: (text) => screen.write(plainLines(text)), end: () => screen.endLine() }
}
