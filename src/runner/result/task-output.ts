import { MeanwhileError } from "../../base/error.ts"
import type { OutputChunk, OutputRequest, PatternAnswer, PatternRequest } from "../../plugin/output.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasSpool, HasStore, WaitScope } from "../run/scope.ts"
import { waitForEnd } from "../run/wait-for-end.ts"

export async function readTaskOutput(
  scope: HasStore & HasSpool,
  task: TaskRecord,
  request: OutputRequest,
): Promise<OutputChunk> {
  const run = request.run ?? task.run
  if (!(run >= 1 && run <= task.run)) {
    const message = `Task ${task.id} has runs 1 to ${task.run}; there is no run ${run}.`
    throw new MeanwhileError("not_found", message, { id: task.id, run })
  }
  checkAtLeast(0, "offset", request.offset)
  checkAtLeast(0, "tailBytes", request.tailBytes)
  checkAtLeast(1, "limitBytes", request.limitBytes)
  checkPattern("filter", request.filter)
  const isComplete = run < task.run || isTerminal(task.status)
  const chunk = await scope.spool.read(task.id, run, request, { isComplete })
  if (!isComplete || chunk.totalBytes > 0) return chunk
  // Asked after the read: the output may have gone since the record was read.
  const now = task.strippedAt === null ? await scope.store.task(task.id) : task
  const isDeleted = now?.run === run && now.status === "failed" && now.failure.code === "store_gone"
  if (now?.strippedAt === null && !isDeleted) return chunk
  const offset = request.offset ?? 0
  const nothing = { text: "", offset, nextOffset: offset, totalBytes: offset }
  return { ...nothing, droppedBefore: "all", restartedAt: null, isComplete: !isDeleted }
}

export async function waitForTaskOutput(
  scope: WaitScope & HasSpool,
  task: TaskRecord,
  request: PatternRequest,
): Promise<PatternAnswer> {
  checkPattern("pattern", request.pattern)
  checkAtLeast(0, "offset", request.offset)
  checkAtLeast(0, "timeoutMs", request.timeoutMs)
  const stopWaiting = new AbortController()
  // A store that cannot be read any longer ends the wait too.
  const ended = waitForEnd(scope, task.id, { signal: stopWaiting.signal }).then(
    () => undefined,
    () => undefined,
  )
  try {
    return await scope.spool.waitFor(task.id, task.run, request, ended, (listener) =>
      scope.engine.bus.subscribe((wake) => {
        if (wake.about === "unknown" || (wake.about === "output" && wake.taskId === task.id)) listener()
      }),
    )
  } finally {
    stopWaiting.abort()
  }
}

/** An empty text would match every line: it is refused as a mistake. */
function checkPattern(field: string, value: RegExp | string | undefined): void {
  if (value === undefined || value instanceof RegExp || (typeof value === "string" && value !== "")) return
  throw new MeanwhileError("invalid_input", `\`${field}\` must be a regular expression or a text.`, { field })
}

function checkAtLeast(least: number, field: string, value: number | undefined): void {
  if (value === undefined || value >= least) return
  throw new MeanwhileError("invalid_input", `\`${field}\` must be ${least} or more, not ${value}.`, { field })
}
