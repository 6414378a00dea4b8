import type { Clock } from "../../base/clock.ts"

const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 60_000
/** What falls again sooner is not well yet: the next wait goes on growing. */
const WELL_AFTER_MS = 30_000

/** When to try again what keeps failing: later each time, soon again after it was well for a while. */
export interface RetryPace {
  succeeded(): void
  /** One try is scheduled at a time. */
  schedule(retry: () => void): void
  cancel(): void
}

export function createRetryPace(clock: Clock): RetryPace {
  let delayMs = FIRST_RETRY_MS
  let succeededAt: number | null = null
  let cancel = (): void => {}
  return {
    succeeded: () => {
      succeededAt = clock.monotonic()
    },
    schedule(retry) {
      if (succeededAt !== null && clock.monotonic() - succeededAt > WELL_AFTER_MS) delayMs = FIRST_RETRY_MS
      succeededAt = null
      cancel()
      cancel = clock.schedule(delayMs, retry, { isBackground: true })
      delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)
    },
    cancel: () => cancel(),
  }
}
