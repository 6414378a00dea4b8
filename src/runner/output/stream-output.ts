import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { RunReference } from "../../task/operation.ts"
import type { TaskSummary } from "../../task/record.ts"
import { createOutputStream, type OutputStream } from "../spool/output-stream.ts"
import type { RunSpool } from "../spool/run-spool.ts"
import type { HasActive, HasClock, HasEngine, HasLog, HasRedactor, HasWritten } from "../run/scope.ts"
import { createStoreRetry } from "../run/store-retry.ts"
import type { ActiveRun } from "../run/active-run.ts"

interface StreamOutputScope extends HasClock, HasLog, HasRedactor, HasEngine, HasWritten {}

interface StoreLeftOutputScope extends HasClock, HasLog, HasRedactor, HasActive, HasEngine, HasWritten {}

/**
 * From now on what the run prints goes to the store too, if that keeps output and knows the run. Not of a run that was
 * given a secret elsewhere: nobody here could take it out.
 */
export function streamOutput(scope: StreamOutputScope, active: ActiveRun): void {
  const { spool, standing, taskId, run, isInputHeld = false } = active
  if (active.stream || !spool || standing.in !== "background") return
  if (isInputHeld && !scope.written.heldInputs.has(taskId)) return
  active.stream = openStream(scope, spool, { taskId, run, fence: standing.fence })
}

function openStream(
  scope: HasClock & HasLog & HasRedactor & HasEngine,
  spool: RunSpool,
  run: Required<RunReference>,
): OutputStream | null {
  const { redactor, clock, engine, log } = scope
  if (!engine.outputs) return null
  let hasFailed = false
  function onFailure(error: unknown): void {
    if (hasFailed) return
    hasFailed = true
    log.warn("what a task prints could not be stored; trying again", { task: run.taskId, error: toErrorMessage(error) })
  }
  return createOutputStream({ outputs: engine.outputs, run, spool, redactor, clock, onFailure })
}

/**
 * Called before the end of a run is written: a reader who sees the end sees all that was printed. Without a store that
 * takes writes there is no end either, so it is tried until there is one; what the store refuses for another reason
 * keeps no run from ending.
 */
export async function storeOutput(scope: HasClock & HasLog & HasActive, { stream, taskId }: ActiveRun): Promise<void> {
  if (stream) await finishStream(scope, stream, taskId)
}

/** Called before a run goes on without this process. The worker that takes it over stores the rest. */
export async function storeOutputSoFar(scope: HasLog, { stream, taskId }: ActiveRun): Promise<void> {
  await stream?.pause().catch((error: unknown) => {
    scope.log.warn("what a task has printed could not be stored", { task: taskId, error: toErrorMessage(error) })
  })
}

/** Stores the output that a lost worker left, before the end of the run is written. The caller has the files. */
export async function storeLeftOutput(scope: StoreLeftOutputScope, spool: RunSpool, task: TaskSummary): Promise<void> {
  const { id: taskId, run, fence, inputHeldBy } = task
  if (inputHeldBy !== null && !scope.written.heldInputs.has(taskId)) return
  const stream = openStream(scope, spool, { taskId, run, fence })
  if (stream) await finishStream(scope, stream, taskId)
}

async function finishStream(scope: HasClock & HasLog & HasActive, stream: OutputStream, task: string): Promise<void> {
  for (const retry = createStoreRetry(scope); ; await retry.pause()) {
    try {
      return await stream.finish()
    } catch (error) {
      const fields = { task, error: toErrorMessage(error) }
      if (!isPassing(error) || retry.isOver()) {
        scope.log.error("the last output of a task could not be stored", fields)
        return
      }
      scope.log.warn("the last output of a task could not be stored; trying again", fields)
    }
  }
}

/** The end of the run cannot be written either, and is tried again until it can be. */
function isPassing(error: unknown): boolean {
  return (["store_unavailable", "store_read_only", "disk_full"] as const).some((code) => isMeanwhileError(error, code))
}
