import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { LifecycleEvent } from "../../task/event.ts"
import type { TaskId } from "../../task/id.ts"
import type { TaskSummary } from "../../task/record.ts"
import type { Stopper } from "../../task/stop.ts"
import { type ActiveRun, ranMs, type RunControl } from "./active-run.ts"
import { stopBegun } from "./begun-below.ts"
import { isLost, lostError, markLost } from "./ownership.ts"
import { runsAbove } from "./runs-above.ts"
import type { HasActive, HasClock, HasConfig, HasStore, StopScope } from "./scope.ts"
import { writeUnderFence } from "./write-run.ts"

/**
 * How long after the grace period a run is given up although part of it lives. Killing its processes takes less time, so
 * that the end of the run can name those that could not be ended.
 */
export const GIVE_UP_AFTER_GRACE_MS = 2_000

export interface StopCause {
  readonly by: Stopper
  readonly reason: string
  /** The time limit that is over: the store refuses the stop if the task has another one by now. */
  readonly limitMs?: number
}

/** Stops a run of this process, in the store first if the store knows the run. The first cause wins. */
export async function stopRun(scope: StopScope, active: ActiveRun, cause: StopCause): Promise<void> {
  if (active.control.stop) return
  const event = toStopRequested(scope, active.taskId, active.run, cause)
  try {
    await writeUnderFence(scope, active, (run) => [{ op: "task.apply", run, event }], { whenAway: "refuse" })
  } catch (error) {
    if (isMeanwhileError(error, "stale_claim")) return
    if (isMeanwhileError(error, "wrong_state")) return followStore(scope, active)
    scope.log.error("a stop could not be stored; the work is stopped all the same", {
      task: active.taskId,
      error: toErrorMessage(error),
    })
  }
  abortRun(scope, active, cause)
  await stopBegun(scope, active)
}

/** The event says how long the run has run, if it runs here: the store may be away and take the stop much later. */
export function toStopRequested(
  scope: HasClock & HasActive,
  id: TaskId,
  run: number,
  { by, reason, limitMs }: StopCause,
): LifecycleEvent {
  const active = scope.active.get(id)
  const isHere = active?.run === run && !isLost(active)
  const ran = isHere ? { ranMs: active.times.workedMs ?? ranMs(active.times, scope.clock) } : {}
  return { type: "task.stop_requested", by, reason, ...ran, ...(limitMs !== undefined && { limitMs }) }
}

/**
 * Another stop was written first and its cause stands, or the run was ended elsewhere and is no longer ours. A run that
 * still runs under our claim goes on: its time limit was changed.
 */
async function followStore(scope: HasStore & HasClock & HasConfig, active: ActiveRun): Promise<void> {
  const task = await scope.store.task(active.taskId).catch(() => undefined)
  if (task?.run === active.run && task.status === "stopping") abortRun(scope, active, task.stop)
  else if (task?.status !== "running" || !isOurClaim(active, task)) markLost(active)
}

/** True if the record is of the claim under which this worker has the run. */
export function isOurClaim({ standing, run }: ActiveRun, task: Pick<TaskSummary, "run" | "fence">): boolean {
  return standing.in === "background" && standing.fence === task.fence && run === task.run
}

/** Why a call in the foreground ends whose turn another process has now. */
export const TAKEN_OVER = {
  by: "lost_worker",
  reason: "the turn that made the call goes on in another process",
} as const

/** The lease is lost, and with it every run held under it. The calls in the foreground that such a run has made end. */
export function loseRuns(scope: HasActive & HasClock & HasConfig): void {
  const runs = [...scope.active.values()]
  const held = new Set(runs.filter(({ standing }) => standing.in === "background"))
  const isBelow = (run: ActiveRun): boolean => !held.has(run) && runsAbove(scope, run).some((above) => held.has(above))
  const below = runs.filter(isBelow)
  for (const run of held) markLost(run)
  for (const run of below) {
    // The promotion says itself what has become of the call, once it knows.
    if (run.standing.in === "promotion") run.control.abort.abort(lostError(run))
    else abortRun(scope, run, TAKEN_OVER)
  }
}

/** Tells the work to end, and gives it up when it does not. A foreground call that has its answer has ended already. */
export function abortRun(scope: HasClock & HasConfig, active: ActiveRun, cause: StopCause): void {
  if (active.control.stop && !active.control.stop.isEarly) return
  if (active.standing.in === "lost" || active.standing.in === "answered") return
  active.control.stop = cause
  giveUpAfterGrace(scope, active)
  abortWork(active.control, cause)
}

/**
 * Aborts the work before the store knows of the stop, since the store may be away. The end is written with the stop.
 * The run is not given up before the stop is stored: the store may be what the run waits for.
 */
export function abortEarly(active: ActiveRun, cause: StopCause): void {
  if (active.control.stop || active.standing.in === "lost" || active.standing.in === "answered") return
  active.control.stop = { ...cause, isEarly: true }
  abortWork(active.control, cause)
}

/** The stop cannot be stored, and is written together with the end. So the run must end even if its work does not. */
export function giveUpEarly(scope: HasClock & HasConfig & HasActive, id: TaskId): void {
  const active = scope.active.get(id)
  if (active?.control.stop?.isEarly) giveUpAfterGrace(scope, active)
}

function abortWork({ abort, processAbort }: RunControl, { by, reason }: StopCause): void {
  abort.abort(new MeanwhileError("closed", `Stopped by ${by}: ${reason}`))
  processAbort.abort()
}

/** Gives the run up after the grace period. The timer takes the place of the deadline, which no longer matters. */
export function giveUpAfterGrace(scope: HasClock & HasConfig, { times, control }: ActiveRun): void {
  times.cancelDeadline?.()
  times.cancelDeadline = scope.clock.schedule(scope.config.stopGraceSeconds * 1_000 + GIVE_UP_AFTER_GRACE_MS, () => {
    control.abandoned.resolve(undefined)
  })
}
