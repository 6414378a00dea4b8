import { type Clock, systemClock } from "../base/clock.ts"
import type { Engine } from "./engine.ts"

/** The clock of whoever works on a store beside others: what it writes down is by the store's time, what it measures by its own. */
export function createStoreClock(engine: Pick<Engine, "now">): Clock {
  return { ...systemClock, now: () => engine.now() }
}
