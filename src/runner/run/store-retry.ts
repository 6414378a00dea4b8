import type { HasActive, HasClock } from "./scope.ts"
import { sleep } from "../../base/sleep.ts"

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 5_000
/** A closing runner does not wait longer for a store that refuses: the next start takes over what is left. */
const LONGEST_CLOSING_RETRY_MS = 500

/** For what is tried again until the store takes it. */
export interface StoreRetry {
  /** The runner closes and has waited long enough. */
  isOver(): boolean
  /** Each time longer. */
  pause(): Promise<void>
}

export function createStoreRetry(scope: HasClock & HasActive): StoreRetry {
  let retryMs = FIRST_RETRY_MS
  return {
    isOver: () => scope.active.isClosing && retryMs > LONGEST_CLOSING_RETRY_MS,
    async pause() {
      await sleep(scope.clock, retryMs)
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
    },
  }
}
