import type { Clock } from "./clock.ts"

export interface ManualClock extends Clock {
  /** Advances both times together and runs the callbacks that fall due, in order. */
  advance(durationMs: number): void
  /** Moves wall time alone, as a person setting the clock or a time server does. */
  jump(byMs: number): void
  /** Moves wall time alone and forwards, as a suspended machine sees it. */
  suspend(durationMs: number): void
}

interface Timer {
  readonly dueAt: number
  readonly callback: () => void
}

export function createManualClock(startAt = 1_700_000_000_000): ManualClock {
  let wall = startAt
  let elapsed = 0
  /** In the order in which they were scheduled: of two due at the same time, the earlier one runs first. */
  const timers = new Set<Timer>()

  function nextDue(until: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.dueAt <= until && (!next || timer.dueAt < next.dueAt)) next = timer
    }
    return next
  }

  return {
    now: () => wall,
    monotonic: () => elapsed,
    schedule(delayMs, callback) {
      const timer = { dueAt: elapsed + Math.max(delayMs, 0), callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance(durationMs) {
      const until = elapsed + durationMs
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        timers.delete(timer)
        wall += timer.dueAt - elapsed
        elapsed = timer.dueAt
        timer.callback()
      }
      wall += until - elapsed
      elapsed = until
    },
    jump(byMs) {
      wall += byMs
    },
    suspend(durationMs) {
      wall += durationMs
    },
  }
}
