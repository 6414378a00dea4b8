import { sleep } from "../../base/sleep.ts"
import type { HasActive, HasClock } from "./scope.ts"

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 5_000
/** A closing runner does not wait longer for a store that refuses: the next start takes over what is left. */
const LONGEST_CLOSING_RETRY_MS = 500

export type StoreRetry = ReturnType<typeof createStoreRetry>

/** The pauses of a write that is repeated until the store takes it. */
export function createStoreRetry(scope: HasClock & HasActive) {
  let retryMs = FIRST_RETRY_MS
  return {
    /** True if the runner closes and has waited long enough. */
    isOver: (): boolean => scope.active.isClosing && retryMs > LONGEST_CLOSING_RETRY_MS,
    /** Waits longer each time. */
    async pause(): Promise<void> {
      await sleep(scope.clock, retryMs)
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
    },
  }
}
