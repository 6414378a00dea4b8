import type { ActiveRun, RunTimes } from "./active-run.ts"
import { confirmOwned, isInDoubt } from "./ownership.ts"
import { runsAbove } from "./runs-above.ts"
import type { HasClock, StopScope } from "./scope.ts"
import { isOurClaim, stopRun } from "./stop-run.ts"

/** Stops the run at its time limit, by monotonic time: a suspended machine or a moved clock costs a run nothing. */
export function armDeadline(scope: StopScope, active: ActiveRun): void {
  const { limitMs, ranBeforeMs } = active.times
  active.times.cancelDeadline?.()
  active.times.cancelDeadline = null
  if (limitMs === null) return
  const leftMs = limitMs - ranBeforeMs - countedMs(scope, active.times)
  active.times.cancelDeadline = scope.clock.schedule(Math.max(leftMs, 0), () => {
    void stopAtDeadline(scope, active, limitMs)
  })
}

/** Gives the run another time limit; null: none. The time it has run counts. */
export function changeDeadline(scope: StopScope, active: ActiveRun, limitMs: number | null): void {
  active.times.limitMs = limitMs
  const isResting = (active.times.rest?.waiters ?? 0) > 0
  if (mayReachDeadline(active) && !isResting) armDeadline(scope, active)
}

/**
 * The store refuses the stop if the limit was changed meanwhile; then the new limit counts. It cannot refuse the stop of a
 * call in the foreground. After a standstill another worker may have that call's turn, so this looks at the lease first; a
 * call that is lost ends as lost.
 */
async function stopAtDeadline(scope: StopScope, active: ActiveRun, limitMs: number): Promise<void> {
  if (active.standing.in === "foreground" && isInDoubt(scope, active)) {
    const isOurs = await confirmOwned(scope, active).catch(() => true)
    if (!isOurs) return
  }
  await stopRun(scope, active, {
    by: "deadline",
    reason: `it ran longer than its limit of ${limitMs / 1_000} s`,
    limitMs,
  })
  if (active.control.stop || active.standing.in !== "background") return
  // Without an answer, the next look at changed limits finds the new one.
  const task = await scope.store.task(active.taskId).catch(() => undefined)
  if (task && isOurClaim(active, task)) changeDeadline(scope, active, task.limits.timeoutMs)
}

/** How long this worker has had the run, without the time that it rested. A whole number, as a store keeps it. */
export function countedMs({ clock }: HasClock, { startedMonotonicMs, rest }: RunTimes): number {
  const now = clock.monotonic()
  const restingMs = rest && rest.waiters > 0 ? now - rest.sinceMonotonicMs : 0
  return Math.round(now - startedMonotonicMs - (rest?.restedMs ?? 0) - restingMs)
}

/**
 * Until the returned function is called, no time counts against the limits of the run and of the runs above it, which
 * wait for somebody else. A stop that comes meanwhile has its own deadline, which is left alone.
 */
export function restDeadlines(scope: StopScope, active: ActiveRun): () => void {
  const resting = runsAbove(scope, active).filter(mayReachDeadline)
  for (const { times } of resting) {
    times.rest ??= { restedMs: 0, sinceMonotonicMs: 0, waiters: 0 }
    if (times.rest.waiters === 0) {
      times.cancelDeadline?.()
      times.rest.sinceMonotonicMs = scope.clock.monotonic()
    }
    times.rest.waiters += 1
  }
  return () => {
    for (const run of resting.splice(0)) goOn(scope, run)
  }
}

/** Also true of a run without a limit: it may get one. */
function mayReachDeadline({ control, standing }: ActiveRun): boolean {
  return !control.stop && !control.isHandedBack && standing.in !== "lost"
}

function goOn(scope: StopScope, run: ActiveRun): void {
  const { rest } = run.times
  if (!rest) return
  rest.waiters -= 1
  if (rest.waiters > 0) return
  rest.restedMs += scope.clock.monotonic() - rest.sinceMonotonicMs
  if (mayReachDeadline(run) && scope.active.get(run.taskId) === run) armDeadline(scope, run)
}
