import { MeanwhileError } from "../../../base/error.ts"
import type { Database, Query } from "../connection/database.ts"

/** The version of the tables of pg-boss that this release works with. */
export const QUEUE_VERSION = 43

/** pg-boss has a schema of its own beside the store's. */
export function toQueueSchema(schema: string): string {
  return `${schema}_queue`
}

/** 0 if there are no tables. */
export async function readQueueVersion(query: Query, schema: string): Promise<number> {
  const { PgBoss } = await import("pg-boss")
  const boss = new PgBoss({ db: toExecutor(query), schema: toQueueSchema(schema), supervise: false, schedule: false })
  return (await boss.isInstalled()) ? ((await boss.schemaVersion()) ?? 0) : 0
}

/** The interface through which pg-boss sends its statements. */
export function toExecutor(query: Query) {
  return {
    async executeSql(text: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }> {
      return { rows: [...(await query<unknown>(text, values))] }
    },
  }
}

/**
 * Lets pg-boss create its tables, or migrate them to this version, in transactions of its own. Newer tables stay as
 * they are. The statements of pg-boss wait for a lock for half a minute, and everybody who wants the table waits behind
 * them. So they are sent only after a test has found nobody who holds a table for longer than the lock timeout.
 */
export async function migrateQueue(database: Database, schema: string, lockTimeoutMs: number): Promise<void> {
  const { query } = database
  if ((await readQueueVersion(query, schema)) >= QUEUE_VERSION) return
  const queueSchema = toQueueSchema(schema)
  await database.transaction((inTransaction) => lockAll(inTransaction, queueSchema), { lockTimeoutMs })
  const [found] = await query<{ exists: boolean }>("SELECT to_regnamespace($1) IS NOT NULL AS exists", [queueSchema])
  const { PgBoss } = await import("pg-boss")
  const boss = new PgBoss({
    db: toExecutor((statement, values) => query(statement, values).catch((error: unknown) => rollBack(query, error))),
    schema: queueSchema,
    // A role may own a schema that it could not have created.
    createSchema: found?.exists !== true,
    supervise: false,
    schedule: false,
  })
  // Indexes of tables that exist are built in the background, by the engines whose role owns the tables.
  boss.on("error", () => {})
  try {
    await boss.start()
  } finally {
    await boss.stop({ graceful: false, close: false })
  }
  const reached = await readQueueVersion(query, schema)
  if (reached >= QUEUE_VERSION) return
  const text = `pg-boss brought its tables to version ${reached}, and ${QUEUE_VERSION} was expected. Install the version of pg-boss that Meanwhile asks for.`
  throw new MeanwhileError("store_unavailable", text, { reached, expected: QUEUE_VERSION })
}

async function lockAll(query: Query, queueSchema: string): Promise<void> {
  const tables = await query<{ name: string }>(
    "SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p')",
    [queueSchema],
  )
  if (tables.length > 0) await query(`LOCK TABLE ${tables.map(({ name }) => name).join(", ")}`)
}

/** The transaction that pg-boss began in the same text is still open after one of its statements has failed. */
async function rollBack(query: Query, error: unknown): Promise<never> {
  await query("ROLLBACK").catch(() => {})
  throw error
}
