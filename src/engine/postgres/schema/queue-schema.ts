import { MeanwhileError } from "../../../base/error.ts"
import type { Query } from "../connection/database.ts"

/** The version of its own tables that the pg-boss of this release works with. */
export const QUEUE_VERSION = 43

/** pg-boss has a schema of its own beside the store's. */
export function toQueueSchema(schema: string): string {
  return `${schema}_queue`
}

/** 0: there is none. */
export async function readQueueVersion(query: Query, schema: string): Promise<number> {
  const table = `${toQueueSchema(schema)}.version`
  const [found] = await query<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [table])
  if (!found?.exists) return 0
  const [row] = await query<{ version: number }>(`SELECT version FROM ${table}`)
  return row?.version ?? 0
}

/** Creates pg-boss's tables, or brings them to this version, inside the transaction it is given. A newer one stays. */
export async function migrateQueue(query: Query, schema: string): Promise<void> {
  const version = await readQueueVersion(query, schema)
  if (version >= QUEUE_VERSION) return
  const { getConstructionPlans, getMigrationPlans } = await import("pg-boss")
  const queueSchema = toQueueSchema(schema)
  const plans =
    version === 0 ? getConstructionPlans(queueSchema, { createSchema: false }) : getMigrationPlans(queueSchema, version)
  await query(toPart(plans))
  const reached = await readQueueVersion(query, schema)
  if (reached === QUEUE_VERSION) return
  const text = `pg-boss brought its tables to version ${reached}, and ${QUEUE_VERSION} was expected. Install the version of pg-boss that Meanwhile asks for.`
  throw new MeanwhileError("store_unavailable", text, { reached, expected: QUEUE_VERSION })
}

/** Begin, end and patience are those of our own transaction. */
const TRANSACTION_MARK = /^\s*(BEGIN|COMMIT|SET LOCAL \w+ = \d+);\s*$/gm

/**
 * Its plans are a transaction, followed by indexes that are built beside running writers. All become a part of ours: what
 * waits in the queue is never much, so building them holds nobody up, and a crash leaves nothing half done.
 */
function toPart(plans: string): string {
  const end = plans.lastIndexOf("COMMIT;")
  const indexes = plans.slice(end).replaceAll(/\bINDEX CONCURRENTLY\b/g, "INDEX")
  return (plans.slice(0, end) + indexes).replaceAll(TRANSACTION_MARK, "")
}
