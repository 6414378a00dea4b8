import { existsSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { retryWhileBusy } from "./sqlite/busy-retry.ts"
import { assertOursByQuery, migrate, readStoreId } from "./schema/migrations.ts"
import { isSqliteError, toStoreError } from "./sqlite/sqlite-error.ts"
import { createStoreFile, inspectStoreFile } from "./store-file.ts"

/** In place of a path: the store ends with its process, and no other process can open it. */
export const IN_MEMORY = ":memory:"

export interface OpenOptions {
  /** The store's file, or `IN_MEMORY`. It and its folder are created when missing, readable by their owner alone. */
  readonly path: string
  /** `full` (default): an answered commit survives the loss of power; `normal`: only the loss of the process. */
  readonly synchronous?: "full" | "normal"
  /**
   * The largest size of the store in pages of 2 KiB, or of 4 KiB in a store made by an earlier version. Growing past it
   * is refused like a full disk.
   */
  readonly maxPages?: number
  /**
   * Called once the store is open and its log is there, before anything is written into that log, and again once the store
   * is of this version. The id is null in a store of an earlier version. What it throws refuses the store.
   */
  readonly onOpened?: (storeId: string | null) => Promise<void>
}

/** Opens, creates or migrates the store. A file it refuses is left as it was. `onLocked`: as in `retryWhileBusy`. */
export async function openDatabase(options: OpenOptions, onLocked?: () => void): Promise<DatabaseSync> {
  const { path, onOpened = async () => {} } = options
  try {
    // The first switch to a write-ahead log and a migration answer BUSY when several processes open at once.
    const database = await retryWhileBusy(() => tryOpen(options), onLocked)
    try {
      await onOpened(readStoreId(database))
      await retryWhileBusy(() => migrate(database, path), onLocked)
      await onOpened(readStoreId(database))
      return database
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw toStoreError(error, path)
  }
}

/** Reads the id of the store in this file, and changes nothing in it or beside it that counts. Null: it has none. */
export async function findStoreId(path: string): Promise<string | null> {
  try {
    return await retryWhileBusy(() => {
      const database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
      try {
        return readStoreId(database)
      } finally {
        database.close()
      }
    })
  } catch (error) {
    // Says more about a file that cannot be written, or is damaged.
    if (isSqliteError(error)) prepareFile(path)
    throw toStoreError(error, path)
  }
}

function tryOpen(options: OpenOptions): DatabaseSync {
  const { path } = options
  if (path !== IN_MEMORY) prepareFile(path)
  const database = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false })
  try {
    assertOursByQuery(database, path)
    configure(database, options)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function prepareFile(path: string): void {
  if (existsSync(path)) {
    const { hasLog } = inspectStoreFile(path)
    if (hasLog) inspectWithLog(path)
  }
  createStoreFile(path)
}

/** A read-only connection never folds the log into the file, so that a refused store stays as it was. */
function inspectWithLog(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
  try {
    assertOursByQuery(database, path)
  } finally {
    database.close()
  }
}

/**
 * Pages of log after which a commit folds it into the file. Commits that wait for the disk are faster in a short log
 * that is written over than in one that grows. If only folding waits for the disk, foldings should be few.
 */
const CHECKPOINT_PAGES = { full: 4_000, normal: 16_000 }
const CACHE_KIBIBYTES = 16_000
/** The page size of a new store. A commit writes every page it touches as a whole, and most of its rows are small. */
const PAGE_BYTES = 2_048

function configure(database: DatabaseSync, { synchronous = "full", maxPages }: OpenOptions): void {
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  database.prepare("PRAGMA journal_mode = WAL").get()
  database.exec(`PRAGMA synchronous = ${synchronous === "full" ? "FULL" : "NORMAL"}`)
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES[synchronous]}`)
  database.exec(`PRAGMA cache_size = ${-CACHE_KIBIBYTES}`)
  if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${maxPages}`)
}
