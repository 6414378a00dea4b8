import type { Clock, TimerOptions } from "./clock.ts"

export function sleep(clock: Clock, durationMs: number, options?: TimerOptions): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(durationMs, resolve, options)
  })
}
