import type { Clock } from "../../src/base/clock.ts"

/** Resolves at the next timer of this length. What it limits has begun by then: to advance the clock earlier ends nothing. */
export function nextTimer(clock: Clock, delayMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { schedule } = clock
  const hear: typeof schedule = (ms, ...timer) => {
    if (ms === delayMs) resolve()
    return schedule(ms, ...timer)
  }
  Object.assign(clock, { schedule: hear })
  return promise.finally(() => Object.assign(clock, { schedule }))
}
