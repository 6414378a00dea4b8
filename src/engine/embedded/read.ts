import type { DatabaseSync } from "node:sqlite"
import { MeanwhileError } from "../../base/error.ts"
import { retryWhileBusy } from "./sqlite/busy-retry.ts"
import { isBusy, toStoreError } from "./sqlite/sqlite-error.ts"

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
