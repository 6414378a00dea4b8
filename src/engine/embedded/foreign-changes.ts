import type { DatabaseSync } from "node:sqlite"
import type { CancelTimer, Clock } from "../../base/clock.ts"
import type { Attachments } from "./attachments.ts"
import { isSqliteError } from "./sqlite/sqlite-error.ts"
import { prepareDataVersion } from "./sqlite/statement.ts"

/** Notices commits of other processes, while anyone here listens. */
export interface ForeignChanges {
  /** Counts one listener more or one less. */
  count(by: 1 | -1): void
  close(): void
}

/** How often the list of attached processes is read again although nothing was written. */
const ATTACHMENT_CHECK_MS = 5_000

/** For a store in memory, which no other process can open. */
export const NO_FOREIGN_CHANGES: ForeignChanges = { count() {}, close() {} }

export function createForeignChanges(
  database: DatabaseSync,
  clock: Clock,
  attachments: Attachments,
  intervals: { readonly aloneMs: number; readonly sharedMs: number },
  onChange: () => void,
): ForeignChanges {
  const readVersion = prepareDataVersion(database)
  let listenerCount = 0
  let isClosed = false
  let cancelTimer: CancelTimer | undefined
  let version = readVersion()
  let isShared = attachments.hasOthers()
  let checkedAt = clock.monotonic()

  function poll(): void {
    const isChanged = look()
    schedule()
    if (isChanged) onChange()
  }

  /** A failed look finds nothing: the next read or write of the store reports the error. */
  function look(): boolean {
    try {
      const found = readVersion()
      const isChanged = found !== version
      version = found
      if (isChanged || clock.monotonic() - checkedAt > ATTACHMENT_CHECK_MS) {
        isShared = attachments.hasOthers()
        checkedAt = clock.monotonic()
      }
      return isChanged
    } catch (error) {
      if (!isSqliteError(error)) throw error
      return false
    }
  }

  function schedule(): void {
    cancelTimer = clock.schedule(isShared ? intervals.sharedMs : intervals.aloneMs, poll, { isBackground: true })
  }

  function stop(): void {
    cancelTimer?.()
    cancelTimer = undefined
  }

  return {
    count(by) {
      listenerCount += by
      if (listenerCount === 0) return stop()
      if (cancelTimer || isClosed) return
      version = readVersion()
      schedule()
    },
    close() {
      isClosed = true
      stop()
    },
  }
}
