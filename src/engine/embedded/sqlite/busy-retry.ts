import { isBusy, toStoreError } from "./sqlite-error.ts"
import type { DatabaseSync } from "node:sqlite"
import { MeanwhileError } from "../../../base/error.ts"

/** Another process holds the lock for about one commit. */
const RETRY_MS = 2
/** A process that was stopped in the middle of a commit holds the lock until it goes on or is killed. */
const PATIENCE_MS = 30_000

/** How long to wait before the next try; some of it by chance, so that two processes do not keep in step. */
export function nextRetryMs(): number {
  return RETRY_MS * (0.5 + Math.random())
}

/** Tries again while another process holds the lock, without blocking the event loop. */
export async function retryWhileBusy<Result>(attempt: () => Result): Promise<Result> {
  const patience = createPatience()
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || patience.isOver()) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, nextRetryMs()))
  }
}

/** Real time, whatever clock the engine was given: nobody would advance another while waiting for a lock. */
export function createPatience(patienceMs = PATIENCE_MS): { isOver(): boolean; renew(): void } {
  let startedAt = performance.now()
  return {
    isOver: () => performance.now() - startedAt > patienceMs,
    renew() {
      startedAt = performance.now()
    },
  }
}

/** Runs a query; its answer holds everything committed before it was asked. */
export type Read = <Result>(query: () => Result) => Promise<Result>

/** Readers are held up only while another process recovers the log of a crashed one. */
export function createRead(database: DatabaseSync, path: string): Read {
  function run<Result>(query: () => Result): Result {
    if (!database.isOpen) throw new MeanwhileError("closed", "The store was closed. Open it again.")
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
