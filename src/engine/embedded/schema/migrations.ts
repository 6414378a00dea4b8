import type { DatabaseSync } from "node:sqlite"
import { MeanwhileError } from "../../../base/error.ts"
import { MIGRATIONS } from "./schema-changes.ts"
import { createPrepare } from "../sqlite/statement.ts"

/** Marks a file as a store of ours: "MEAN" in ASCII. */
export const APPLICATION_ID = 0x4d45414e

export const STORE_VERSION = MIGRATIONS.length

/**
 * Migrates the store to this version, in one transaction. Throws SQLite's BUSY while another process migrates it, and
 * refuses a store that a newer Meanwhile has migrated since the first check.
 */
export function migrate(database: DatabaseSync, path: string): void {
  if (readStoreVersion(database) === STORE_VERSION) return
  database.exec("BEGIN IMMEDIATE")
  try {
    assertOursByQuery(database, path)
    for (const migration of MIGRATIONS.slice(readStoreVersion(database))) database.exec(migration)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${STORE_VERSION}`)
    database.exec("COMMIT")
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK")
    throw error
  }
}

/** A store knows its id since the ninth version. Null before that. The first read of a store makes its log, if it has none. */
export function readStoreId(database: DatabaseSync): string | null {
  const prepare = createPrepare(database)
  if (prepare("SELECT 1 FROM sqlite_schema WHERE name = 'store_id'").get() === undefined) return null
  return prepare<{ id: string }>("SELECT id FROM store_id").get()?.id ?? null
}

/** Refuses what this version must not touch: a newer store, or another program's database. */
export function assertOurs(path: string, applicationId: number, storeVersion: number, isEmpty: boolean): void {
  if (applicationId !== APPLICATION_ID && !isEmpty) {
    const text = `The file ${path} is a database of another program. It was left as it is; use another data folder.`
    throw new MeanwhileError("store_damaged", text, { path })
  }
  if (storeVersion > STORE_VERSION) {
    const text = `The store ${path} was written by a newer Meanwhile (store version ${storeVersion}, this one knows ${STORE_VERSION}). It was left as it is; update Meanwhile.`
    throw new MeanwhileError("store_newer", text, { path, storeVersion, knownVersion: STORE_VERSION })
  }
}

export function assertOursByQuery(database: DatabaseSync, path: string): void {
  // In this order: another process may create the store between the two reads, and it writes tables and mark together.
  const prepare = createPrepare(database)
  const isEmpty = prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined
  const application = prepare<{ application_id: number }>("PRAGMA application_id").get()
  assertOurs(path, application?.application_id ?? 0, readStoreVersion(database), isEmpty)
}

function readStoreVersion(database: DatabaseSync): number {
  return createPrepare(database)<{ user_version: number }>("PRAGMA user_version").get()?.user_version ?? 0
}
