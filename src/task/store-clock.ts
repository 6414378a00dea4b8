import { type Clock, systemClock } from "../base/clock.ts"
import type { Engine } from "./engine.ts"

/** A clock for code that works on a store: timestamps use the store's time, durations the process's own. */
export function createStoreClock(engine: Pick<Engine, "now">, own: Clock = systemClock): Clock {
  return {
    now: () => engine.now(),
    monotonic: () => own.monotonic(),
    schedule: (delayMs, callback, options) => own.schedule(delayMs, callback, options),
  }
}
