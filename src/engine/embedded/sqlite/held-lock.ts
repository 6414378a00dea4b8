import { DatabaseSync } from "node:sqlite"
import { describeLockHolders } from "./lock-holders.ts"
import { isBusy, isSqliteError } from "./sqlite-error.ts"

const LOOK_EVERY_MS = 50

/**
 * The holders of the lock, in the words of `describeLockHolders`. Undefined if nobody has kept the lock for so long: then
 * the store can be written, or the one who opens it is told why not.
 */
export async function describeHeldLock(path: string, forMs: number): Promise<string | undefined> {
  for (const startedAt = performance.now(); ; await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))) {
    if (!isLocked(path)) return undefined
    if (performance.now() - startedAt > forMs) return describeLockHolders(path)
  }
}

function isLocked(path: string): boolean {
  try {
    const database = new DatabaseSync(path, { timeout: 0 })
    try {
      database.exec("BEGIN IMMEDIATE")
      database.exec("ROLLBACK")
      return false
    } finally {
      database.close()
    }
  } catch (error) {
    if (!isSqliteError(error)) throw error
    return isBusy(error)
  }
}
