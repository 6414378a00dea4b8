import { MeanwhileError, toErrorMessage } from "../../../base/error.ts"
import { createOutage } from "../../rules/outage.ts"
import { LOCK_PATIENCE_MS, nextRetryMs } from "../sqlite/busy-retry.ts"
import { isBusy, isWriteRefused, toStoreError } from "../sqlite/sqlite-error.ts"

export interface WriteRefusalsOptions {
  /** How long a commit waits for a store that takes no writes, before it is refused. Default: 60 s. */
  readonly patienceMs?: number
  /** Once it aborts, a store that takes no writes is not waited for any more. Closing the store does the same. */
  readonly leaving?: AbortSignal
  /** Called when such a store is given up, after `leaving` has aborted or the store is closed. */
  readonly onGone?: () => void
  /** Called when the store is found to take no writes, and when it takes them again. */
  readonly onAway?: (isAway: boolean) => void
  /** Lines for a person: that the store takes no writes, takes them again, is gone. */
  readonly tell?: (line: string) => void
}

/** Decides how long a commit waits for a store that refuses writes for now, and tells a person. */
export interface WriteRefusals {
  /** Called at each try that failed. `sinceMs`: since when its first writer waits, by the monotonic clock. */
  refused(
    error: unknown,
    sinceMs: number,
    isClosing: boolean,
  ): { readonly pauseMs: number } | { readonly refusal: unknown }
  accepted(): void
  /** The refusal for those who do not wait; undefined until the person was told. */
  away(): MeanwhileError | undefined
  close(): void
}

const PATIENCE_MS = 60_000
const SHORTEST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 250

export function createWriteRefusals(path: string, options: WriteRefusalsOptions = {}): WriteRefusals {
  const { patienceMs = PATIENCE_MS, leaving, onGone = () => {}, onAway, tell = () => {} } = options
  const outage = createOutage({ store: `The store ${path}`, tell, onAway })
  const line = outage.beginWrite()
  let cause: unknown
  const describe = (): string => toErrorMessage(toStoreError(cause, path))
  const toRefusal = (): MeanwhileError => new MeanwhileError("store_unavailable", describe(), { path }, { cause })
  let pauseMs = SHORTEST_PAUSE_MS

  function nextPauseMs(): number {
    const mostMs = pauseMs
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    return mostMs * (0.5 + Math.random() / 2)
  }

  return {
    refused(error, sinceMs, isClosing) {
      const isLocked = isBusy(error)
      if (!isLocked && !isWriteRefused(error)) return { refusal: toStoreError(error, path) }
      cause = error
      line.refused(describe)
      const hasLeft = isClosing || leaving?.aborted === true
      if (hasLeft && outage.isAway) {
        onGone()
        return { refusal: toRefusal() }
      }
      const mostMs = isLocked ? LOCK_PATIENCE_MS : patienceMs
      if (performance.now() - sinceMs >= mostMs) {
        if (!isLocked) line.gaveUp()
        return { refusal: toStoreError(error, path) }
      }
      return { pauseMs: isLocked && !outage.isAway ? nextRetryMs() : nextPauseMs() }
    },
    accepted() {
      pauseMs = SHORTEST_PAUSE_MS
      line.accepted()
    },
    away: () => (outage.isAway ? toRefusal() : undefined),
    close: outage.close,
  }
}
