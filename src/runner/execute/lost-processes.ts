import { toErrorMessage, isMeanwhileError } from "../../base/error.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import { sleep } from "../../base/sleep.ts"
import type { ActiveRun } from "../run/active-run.ts"
import type { HasClock, HasLog, HasSpool, HasActive, HasStore, WaitScope } from "../run/scope.ts"

const LOOK_AGAIN_MS = 500

/**
 * Stops what a lost run still has running here, once the store says that the run is over: the worker that ended it
 * could not reach these processes. A run that another worker adopted or began anew is left alone: that worker sees the
 * commands end before it ends the run. A crash on the way leaves a folder to the sweep of the next start. Never rejects.
 */
export async function endLostProcesses(scope: WaitScope & HasLog & HasSpool, active: ActiveRun): Promise<void> {
  const { taskId, run } = active
  const { spool } = active.output
  try {
    if (!spool || !(await isOver(scope, active))) return
    if (spool.pids().length > 0) {
      scope.log.warn("another worker ended this task while this worker was suspended; stopping its processes", {
        task: taskId,
      })
      await spool.stopAll(scope.config.stopGraceSeconds * 1_000)
    }
    // Stops a process that was being started while the others were stopped.
    active.control.processAbort.abort()
    // Without a store that keeps output, the run's output is read from these files.
    if (scope.engine.outputs) await scope.spool.removeRun(taskId, run)
  } catch (error) {
    if (isMeanwhileError(error, "closed")) return
    scope.log.warn("what a lost task left running could not be stopped", { task: taskId, error: toErrorMessage(error) })
  }
}

/** False when another worker has the run, or when this runner closes. */
async function isOver(scope: HasStore & HasClock & HasActive, active: ActiveRun): Promise<boolean> {
  while (!scope.active.isClosing) {
    try {
      const state = toState(active, await scope.store.task(active.taskId))
      if (state !== "undecided") return state === "over"
    } catch (error) {
      if (isMeanwhileError(error, "closed")) throw error
    }
    await sleep(scope.clock, LOOK_AGAIN_MS, { isBackground: true })
  }
  return false
}

/** Undecided: another worker took the lease and has not decided about the run yet. */
function toState({ run, standing }: ActiveRun, task: TaskRecord | undefined): "over" | "another's" | "undecided" {
  if (standing.in !== "lost" || standing.fence === null) return "another's"
  if (!task || task.run !== run || isTerminal(task.status)) return "over"
  const isClaimed = task.status === "running" || task.status === "stopping"
  return isClaimed && task.fence === standing.fence ? "undecided" : "another's"
}
