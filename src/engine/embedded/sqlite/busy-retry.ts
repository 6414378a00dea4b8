import { isBusy, toStoreError } from "./sqlite-error.ts"
import type { DatabaseSync } from "node:sqlite"
import { MeanwhileError } from "../../../base/error.ts"

/** About the time for which another process holds the lock for one commit. */
const RETRY_MS = 2
/** A process that was stopped in the middle of a commit holds the lock until it goes on or is killed. */
const PATIENCE_MS = 30_000

/** How long to wait before the next try, with some jitter, so that two processes do not keep in step. */
export function nextRetryMs(): number {
  return RETRY_MS * (0.5 + Math.random())
}

/** Retries while another process holds the lock, without blocking the event loop. */
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

/** Measures real time, whatever clock the engine was given: nobody advances a manual clock while it waits for a lock. */
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

/** Reads wait only while another process recovers the log of a crashed one. */
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
