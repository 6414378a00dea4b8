import type { Query } from "./connection/database.ts"
import { toQueueSchema } from "./queue-schema.ts"

/** What keeps a role from using a store, and what to do about it. */
export interface LackingRight {
  readonly cause: string
  readonly fix: string
}

/** To read and write the tables that are there. */
export async function findLackingUse(query: Query, schema: string): Promise<LackingRight | null> {
  const rights = ["SELECT", "INSERT", "UPDATE", "DELETE"].map((right) => `has_table_privilege(oid, '${right}')`)
  const [row] = await query<{ role: string; table: string }>(
    `SELECT current_user AS role, relname AS table FROM pg_class
     WHERE relnamespace = ANY (ARRAY[to_regnamespace($1), to_regnamespace($2)]::oid[]) AND relkind IN ('r', 'p')
       AND NOT (${rights.join(" AND ")}) LIMIT 1`,
    [schema, toQueueSchema(schema)],
  )
  if (!row) return null
  const cause = `the role ${row.role} may not read and write all of its tables, as ${row.table}`
  return { cause, fix: `Run \`meanwhile migrate --grant ${row.role}\` with the role that owns the store.` }
}

/** To make the tables, or to change those that are there. */
export async function findLackingOwnership(query: Query, schema: string): Promise<LackingRight | null> {
  const [row] = await query<{ role: string; may: boolean }>(
    `SELECT current_user AS role, CASE WHEN to_regnamespace($1) IS NULL
         THEN has_database_privilege(current_database(), 'CREATE')
         ELSE has_schema_privilege($1, 'CREATE') END
       AND NOT EXISTS (SELECT FROM pg_class
         WHERE relnamespace = ANY (ARRAY[to_regnamespace($1), to_regnamespace($2)]::oid[]) AND relkind IN ('r', 'p')
           AND NOT pg_has_role(relowner, 'USAGE')) AS may`,
    [schema, toQueueSchema(schema)],
  )
  if (!row || row.may) return null
  const cause = `it has not the tables of this version, and the role ${row.role} may not make or change them`
  return { cause, fix: `Run \`meanwhile migrate --grant ${row.role}\` with a role that may.` }
}
