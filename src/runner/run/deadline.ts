import type { HasClock, StopScope } from "./scope.ts"
import type { ActiveRun } from "./active-run.ts"
import { runsAbove } from "./runs-above.ts"
import { stopRun } from "./stop-run.ts"

/** By monotonic time: a suspended machine or a moved clock costs a run nothing. */
export function armDeadline(scope: StopScope, active: ActiveRun): void {
  const { timeoutMs } = active.limits
  if (timeoutMs === null) return
  const leftMs = timeoutMs - active.ranBeforeMs - countedMs(scope, active)
  active.cancelDeadline = scope.clock.schedule(Math.max(leftMs, 0), () => {
    void stopRun(scope, active, { by: "deadline", reason: `it ran longer than its limit of ${timeoutMs / 1_000} s` })
  })
}

/** How long this worker has had it, without the time that does not count against its limit. Whole, as a store keeps it. */
export function countedMs({ clock }: HasClock, { startedMonotonicMs, rest }: ActiveRun): number {
  const now = clock.monotonic()
  const restingMs = rest && rest.waiters > 0 ? now - rest.sinceMonotonicMs : 0
  return Math.round(now - startedMonotonicMs - (rest?.restedMs ?? 0) - restingMs)
}

/**
 * Until the returned function is called, no time counts against the limits of the run and of those above it: they wait
 * for somebody else. A stop that comes meanwhile has its own deadline, which is left alone.
 */
export function restDeadlines(scope: StopScope, active: ActiveRun): () => void {
  const resting = runsAbove(scope, active).filter(hasDeadline)
  for (const run of resting) {
    run.rest ??= { restedMs: 0, sinceMonotonicMs: 0, waiters: 0 }
    if (run.rest.waiters === 0) {
      run.cancelDeadline?.()
      run.rest.sinceMonotonicMs = scope.clock.monotonic()
    }
    run.rest.waiters += 1
  }
  return () => {
    for (const run of resting.splice(0)) goOn(scope, run)
  }
}

function hasDeadline({ limits, stop, isHandedBack }: ActiveRun): boolean {
  return limits.timeoutMs !== null && !stop && !isHandedBack
}

function goOn(scope: StopScope, run: ActiveRun): void {
  if (!run.rest) return
  run.rest.waiters -= 1
  if (run.rest.waiters > 0) return
  run.rest.restedMs += scope.clock.monotonic() - run.rest.sinceMonotonicMs
  if (hasDeadline(run) && scope.active.get(run.taskId) === run) armDeadline(scope, run)
}
