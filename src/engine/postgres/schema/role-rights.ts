import type { Database, Query } from "../connection/database.ts"
import { toQueueSchema } from "./queue-schema.ts"

/** The reason why a role cannot use a store, and the way to change that. */
export interface LackingRight {
  readonly cause: string
  readonly fix: string
}

/** An object of a store on which a role lacks rights that it needs. */
export interface MissingRights {
  readonly kind: "database" | "schema" | "table" | "sequence" | "function"
  /** The name of the object, as SQL writes it. */
  readonly name: string
  readonly owner: string
  /** The missing rights, with commas between them. */
  readonly rights: string
}

const MISSING = `WITH spaces AS (SELECT * FROM pg_namespace WHERE oid IN (to_regnamespace($1), to_regnamespace($2))),
  asked AS (
    SELECT 1 AS place, 'database' AS kind, quote_ident(datname) AS name, datdba AS owner, 'CONNECT' AS need,
      has_database_privilege($3::name, oid, 'CONNECT') AS has
    FROM pg_database WHERE datname = current_database()
    UNION ALL SELECT 2, 'schema', quote_ident(nspname), nspowner, 'USAGE', has_schema_privilege($3::name, oid, 'USAGE')
    FROM spaces
    UNION ALL SELECT 3, 'table', format('%I.%I', nspname, relname), relowner, need,
      has_table_privilege($3::name, pg_class.oid, need)
    FROM pg_class JOIN spaces ON relnamespace = spaces.oid, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS need
    WHERE relkind IN ('r', 'p')
    UNION ALL SELECT 4, 'sequence', format('%I.%I', nspname, relname), relowner, need,
      has_sequence_privilege($3::name, pg_class.oid, need)
    FROM pg_class JOIN spaces ON relnamespace = spaces.oid, unnest(ARRAY['USAGE', 'SELECT']) AS need
    WHERE relkind = 'S'
    UNION ALL SELECT 5, 'function', format('%I.%I', nspname, proname), proowner, 'EXECUTE',
      has_function_privilege($3::name, pg_proc.oid, 'EXECUTE')
    FROM pg_proc JOIN spaces ON pronamespace = spaces.oid WHERE prokind <> 'p'
  )
  SELECT kind, name, pg_get_userbyid(owner)::text AS owner, string_agg(need, ', ') AS rights
  FROM asked WHERE NOT has GROUP BY place, kind, name, owner ORDER BY place, name`

/** All rights that a role lacks to use the present tables; empty if it may use them. */
export function findMissingRights(query: Query, schema: string, role: string): Promise<readonly MissingRights[]> {
  return query<MissingRights>(MISSING, [schema, toQueueSchema(schema), role])
}

export function formatMissingRights([first, ...others]: readonly MissingRights[]): string {
  const more = others.length === 0 ? "" : `, and rights on ${others.length} more`
  return `${first?.rights} on the ${first?.kind} ${first?.name}${more}`
}

/** The rights that this role lacks to read and write the present tables; null if none. */
export async function findLackingUse(database: Database, schema: string): Promise<LackingRight | null> {
  const [row] = await database.query<{ role: string }>("SELECT current_user::text AS role")
  const role = row?.role ?? ""
  const missing = await findMissingRights(database.query, schema, role)
  if (missing.length === 0) return null
  return { cause: `the role ${role} lacks ${formatMissingRights(missing)}`, fix: toFix(database, role) }
}

/** The right that this role lacks to create the tables, or to change the present ones; null if none. */
export async function findLackingOwnership(database: Database, schema: string): Promise<LackingRight | null> {
  const [row] = await database.query<{ role: string; may: boolean }>(
    `SELECT current_user AS role, CASE WHEN to_regnamespace($1) IS NULL
         THEN has_database_privilege(current_database(), 'CREATE')
         ELSE has_schema_privilege($1, 'CREATE') END
       AND NOT EXISTS (SELECT FROM pg_class
         WHERE relnamespace = ANY (ARRAY[to_regnamespace($1), to_regnamespace($2)]::oid[]) AND relkind IN ('r', 'p')
           AND NOT pg_has_role(relowner, 'USAGE')) AS may`,
    [schema, toQueueSchema(schema)],
  )
  if (!row || row.may) return null
  const cause = `its tables are not those of this version, and the role ${row.role} may not create or change them`
  return { cause, fix: toFix(database, row.role) }
}

function toFix({ toOwnerCommand }: Database, role: string): string {
  return `Run \`${toOwnerCommand(role)}\` as the role that owns the store, or as another that may.`
}
