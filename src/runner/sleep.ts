import type { Clock } from "../../base/clock.ts"

export function sleep(clock: Clock, durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(durationMs, resolve)
  })
}
