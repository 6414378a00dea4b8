import { setTimeout as wait } from "node:timers/promises"
import { isMeanwhileError, MeanwhileError } from "../../../base/error.ts"
import { DEFAULT_SCHEMA } from "../connection/client-settings.ts"
import type { ConnectionOptions, Database, Query } from "../connection/database.ts"
import { openDatabase } from "../connection/open-database.ts"
import { isHeldUp } from "../connection/store-error.ts"
import { MIGRATIONS } from "./schema-changes.ts"
import { migrateQueue, QUEUE_VERSION, readQueueVersion } from "./queue-schema.ts"

export const STORE_VERSION = MIGRATIONS.length

const OLDEST_SERVER = 14

/**
 * How long a migration waits for a lock. While it waits, for a backup for example, every reader of the table waits
 * behind it.
 */
const LOCK_TIMEOUT_MS = 1_000
const PAUSE_MS = 1_000

interface MigrationOptions extends Pick<ConnectionOptions, "url" | "schema"> {
  readonly database: Database
  /** Once it aborts, the migration waits neither for a server that is away nor for a session that uses the tables. */
  readonly leaving?: AbortSignal
  /** A line for the person who waits. */
  tell(line: string): void
}

const TELL_AFTER_MS = 800
const TELL_AGAIN_MS = 10_000

/**
 * Migrates the store to this version, on connections of its own without time limits: a large table takes as long as it
 * takes, and so does another process that is migrating already. True if anything had to be changed.
 */
export async function ensureVersion(wish: MigrationOptions): Promise<boolean> {
  const { url, schema = DEFAULT_SCHEMA, database, leaving, tell } = wish
  if (await isCurrent(database.query, schema)) return false
  const patient = await openDatabase({ url, schema, poolSize: 2, statementTimeoutMs: 0, ...(leaving && { leaving }) })
  const beganMs = performance.now()
  const seconds = (): string => `${Math.round((performance.now() - beganMs) / 1_000)} s`
  using _soon = setTimeout(() => tell("The tables of the store are brought to this version…"), TELL_AFTER_MS)
  using _later = setInterval(() => tell(`The tables are still being changed, for ${seconds()} now.`), TELL_AGAIN_MS)
  try {
    return await migrate(patient, schema, { onHeldUp: () => tell(HELD_UP), leaving })
  } finally {
    await patient.close()
  }
}

const HELD_UP =
  "Another session holds locks on the tables, as a backup does. The migration continues when that session ends; see pg_stat_activity."

interface MigrationHold {
  /** Called while another session uses the tables and keeps their locks. */
  readonly onHeldUp?: () => void
  /** Once it aborts, the migration does not wait for that session. */
  readonly leaving?: AbortSignal | undefined
}

/**
 * Migrates the store to this version: pg-boss migrates its tables first, by itself; then ours are migrated in one
 * transaction. A process that dies between the two leaves a store that is not current, and the next process goes on
 * from there. Any number of processes may do this at once: one migrates, the others wait and find it done. A store that
 * is current is only read, so a role without the right to change tables can use it. True if anything was changed. Takes
 * two connections.
 */
export async function migrate(database: Database, schema: string, hold: MigrationHold = {}): Promise<boolean> {
  if (await isCurrent(database.query, schema)) return false
  for (;;) {
    try {
      return await database.transaction((query) => migrateAll(database, query, schema))
    } catch (error) {
      if (isMeanwhileError(error, "store_read_only")) throw await needsOwner(database, schema, error)
      if (!isHeldUp(error) || hold.leaving?.aborted) throw error
    }
    hold.onHeldUp?.()
    // A process that leaves meanwhile tries once more, and is refused then.
    await wait(PAUSE_MS, undefined, { signal: hold.leaving }).catch(() => {})
  }
}

/** The transaction reads no table before pg-boss is done, because its lock would keep pg-boss from changing that table. */
async function migrateAll(database: Database, query: Query, schema: string): Promise<boolean> {
  await query(
    "SET LOCAL statement_timeout TO 0; SET LOCAL lock_timeout TO 0; SET LOCAL idle_in_transaction_session_timeout TO 0",
  )
  await lockMigration(query, schema)
  if (await isCurrent(database.query, schema)) return false
  await migrateQueue(database, schema, LOCK_TIMEOUT_MS)
  await query(`SET LOCAL lock_timeout TO ${LOCK_TIMEOUT_MS}`)
  await migrateStore(query, schema)
  return true
}

/** Until the end of the transaction, no other process migrates this store or grants its use. */
export async function lockMigration(query: Query, schema: string): Promise<void> {
  await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`meanwhile migration of ${schema}`])
}

/**
 * True if the store has all migrations of this version. Refuses what this version must not touch: a newer store that
 * excludes it, another program's tables, an old server.
 */
export async function isCurrent(query: Query, schema: string): Promise<boolean> {
  const { server, tables, hasVersions } = await lookAround(query, schema)
  if (server < OLDEST_SERVER) {
    const text = `The server is PostgreSQL ${server}. Meanwhile needs ${OLDEST_SERVER} or newer.`
    throw new MeanwhileError("store_unavailable", text, { server })
  }
  if (!hasVersions) {
    if (tables === 0) return false
    const text = `The schema ${schema} holds tables of another program. They were left as they are; choose another schema.`
    throw new MeanwhileError("store_damaged", text, { schema })
  }
  const { version, usableFrom } = await readVersion(query, schema)
  if (usableFrom > STORE_VERSION) {
    const text = `The store in the schema ${schema} was brought to version ${version} by a newer Meanwhile, and this one knows ${STORE_VERSION}. It was left as it is; update Meanwhile.`
    throw new MeanwhileError("store_newer", text, { schema, storeVersion: version, knownVersion: STORE_VERSION })
  }
  return version >= STORE_VERSION && (await readQueueVersion(query, schema)) >= QUEUE_VERSION
}

async function lookAround(
  query: Query,
  schema: string,
): Promise<{ server: number; tables: number; hasVersions: boolean }> {
  const [row] = await query<{ server: number; tables: number; versions: number }>(
    `SELECT current_setting('server_version_num')::integer / 10000 AS server, count(*) AS tables,
       count(*) FILTER (WHERE relname = 'store_versions') AS versions
     FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p')`,
    [schema],
  )
  return { server: row?.server ?? 0, tables: row?.tables ?? 0, hasVersions: row?.versions === 1 }
}

async function readVersion(query: Query, schema: string): Promise<{ version: number; usableFrom: number }> {
  const [row] = await query<{ version: number; usable_from: number }>(
    `SELECT max(version) AS version, max(usable_from) AS usable_from FROM ${schema}.store_versions`,
  )
  return { version: row?.version ?? 0, usableFrom: row?.usable_from ?? 0 }
}

async function migrateStore(query: Query, schema: string): Promise<void> {
  await ensureSchema(query, schema)
  await query(`SET LOCAL search_path TO ${schema}`)
  await query(`CREATE TABLE IF NOT EXISTS store_versions (
    version integer PRIMARY KEY,
    usable_from integer NOT NULL,
    reached_at timestamptz NOT NULL DEFAULT clock_timestamp()
  )`)
  const { version: known } = await readVersion(query, schema)
  for (const [index, { statements, usableFrom }] of MIGRATIONS.entries()) {
    const version = index + 1
    if (version <= known) continue
    await query(statements)
    await query("INSERT INTO store_versions (version, usable_from) VALUES ($1, $2)", [version, usableFrom])
  }
}

/** Creates the schema only if it is missing: a role may own a schema that it could not have created. */
async function ensureSchema(query: Query, schema: string): Promise<void> {
  const [row] = await query<{ exists: boolean }>("SELECT to_regnamespace($1) IS NOT NULL AS exists", [schema])
  if (!row?.exists) await query(`CREATE SCHEMA ${schema}`)
}

async function needsOwner(database: Database, schema: string, cause: MeanwhileError): Promise<MeanwhileError> {
  const [row] = await database.query<{ role: string }>("SELECT current_user AS role")
  const { tables } = await lookAround(database.query, schema)
  const lacks =
    tables === 0
      ? `There are no tables in the schema ${schema} yet, and the role ${row?.role} may not make them.`
      : `The tables in the schema ${schema} must be brought to version ${STORE_VERSION}, and the role ${row?.role} may not change them.`
  const command = database.toOwnerCommand(row?.role ?? "ROLE")
  const text = `${lacks} Run \`${command}\` once, as the role that owns it, or as another that may.`
  return new MeanwhileError("store_read_only", text, { schema, storeVersion: STORE_VERSION }, { cause })
}
