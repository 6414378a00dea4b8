import { isBusy, toStoreError } from "./sqlite-error.ts"
import type { DatabaseSync } from "node:sqlite"
import { MeanwhileError } from "../../../base/error.ts"

/** About the time for which another process holds the lock for one commit. */
const RETRY_MS = 2
/** A process that was stopped in the middle of a commit holds the lock until it goes on or is killed. */
export const LOCK_PATIENCE_MS = 30_000
const LONG_MS = 1_000

/** How long to wait before the next try, with some jitter, so that two processes do not keep in step. */
export function nextRetryMs(): number {
  return RETRY_MS * (0.5 + Math.random())
}

/**
 * Retries while another process holds the lock, without blocking the event loop. Measures real time, whatever clock the
 * engine was given: nobody advances a manual clock meanwhile. `onLong` is called once, after a second.
 */
export async function retryWhileBusy<Result>(attempt: () => Result, onLong?: () => void): Promise<Result> {
  const startedAt = performance.now()
  let isLong = false
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      const waitedMs = performance.now() - startedAt
      if (!isBusy(error) || waitedMs > LOCK_PATIENCE_MS) throw error
      if (waitedMs > LONG_MS && !isLong) onLong?.()
      isLong = waitedMs > LONG_MS
    }
    await new Promise((resolve) => setTimeout(resolve, nextRetryMs()))
  }
}

/** Runs a query; its answer holds everything committed before it was asked. */
export type Read = <Result>(query: () => Result) => Promise<Result>

/** Reads wait only while another process recovers the log of a crashed one. */
export function createRead(database: DatabaseSync, path: string, requireFile: () => void = () => {}): Read {
  function run<Result>(query: () => Result): Result {
    if (!database.isOpen) throw new MeanwhileError("closed", "The store was closed. Open it again.")
    requireFile()
    return query()
  }

  async function runLater<Result>(query: () => Result): Promise<Result> {
    try {
      return await retryWhileBusy(() => run(query))
    } catch (error) {
      throw toStoreError(error, path)
    }
  }

  return (query) => {
    try {
      return Promise.resolve(run(query))
    } catch (error) {
      return isBusy(error) ? runLater(query) : Promise.reject(toStoreError(error, path))
    }
  }
}
