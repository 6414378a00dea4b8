import { type Clock, systemClock } from "../base/clock.ts"
import type { Engine } from "./engine.ts"

/** The clock of whoever works on a store: what it writes down is by the store's time, what it measures by its own. */
export function createStoreClock(engine: Pick<Engine, "now">, own: Clock = systemClock): Clock {
  return {
    now: () => engine.now(),
    monotonic: () => own.monotonic(),
    schedule: (delayMs, callback, options) => own.schedule(delayMs, callback, options),
  }
}
