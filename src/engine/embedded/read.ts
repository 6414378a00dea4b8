import type { DatabaseSync } from "node:sqlite"
import { MeanwhileError } from "../../base/error.ts"
import { isBusy, toStoreError } from "./sqlite-error.ts"

/** Runs a query; its answer holds everything committed before it was asked. */
export type Read = <Result>(query: () => Result) => Promise<Result>

const BUSY_RETRY_MS = 2

/** Readers are held up only while another process recovers the log of a crashed one. */
export function createRead(database: DatabaseSync, path: string): Read {
  return async (query) => {
    for (;;) {
      if (!database.isOpen) throw new MeanwhileError("closed", "The store was closed. Open it again.")
      try {
        return query()
      } catch (error) {
        if (!isBusy(error)) throw toStoreError(error, path)
      }
      await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS))
    }
  }
}
