import type { CancelTimer } from "../../base/clock.ts"
import type { Wake } from "../../task/bus.ts"
import { type Chore, repeat, warn } from "../worker/repeat.ts"
import type { HasActive, HasEngine, StopScope } from "../run/scope.ts"
import { applyStoredStops } from "./stored-stops.ts"
import { applyRemoteLimits } from "./change-limit.ts"

/** Finds stops whose wake-up was lost. */
const SAFETY_POLL_MS = 1_000

/** Most wake-ups about runs of this process come from its own writes. Such wake-ups cause a look at most this often. */
const LOOK_EVERY_MS = 50

/**
 * Applies stops that other processes have written to the store to the runs of this process: at once after a wake-up by
 * another process, soon after any other wake-up, and by a slow poll. Changed time limits come with wake-ups by another
 * process, or with the poll.
 */
export function createRemoteStops(scope: StopScope & HasEngine): Chore {
  const poll = repeat(scope, SAFETY_POLL_MS, async () => {
    await applyStoredStops(scope)
    await applyRemoteLimits(scope)
  })
  let lookedAt = Number.NEGATIVE_INFINITY
  let cancelTimer: CancelTimer | undefined

  function look(): void {
    cancelTimer?.()
    cancelTimer = undefined
    lookedAt = scope.clock.monotonic()
    applyStoredStops(scope).catch((error: unknown) => warn(scope, error))
  }

  function lookSoon(): void {
    const leftMs = lookedAt + LOOK_EVERY_MS - scope.clock.monotonic()
    if (leftMs <= 0) look()
    else cancelTimer ??= scope.clock.schedule(leftMs, look, { isBackground: true })
  }

  const unsubscribe = scope.engine.bus.subscribe((wake) => {
    if (wake.about === "unknown") look()
    else if (!isAboutRunning(scope, wake)) return
    else if (wake.isForeign) {
      look()
      applyRemoteLimits(scope).catch((error: unknown) => warn(scope, error))
    } else lookSoon()
  })

  return {
    async close() {
      unsubscribe()
      cancelTimer?.()
      await poll.close()
    },
  }
}

function isAboutRunning(scope: HasActive, wake: Wake): wake is Extract<Wake, { about: "task" }> {
  const active = wake.about === "task" ? scope.active.get(wake.taskId) : undefined
  return active?.standing.in === "background" && active.control.stop === null
}
