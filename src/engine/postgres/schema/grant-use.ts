import { isMeanwhileError, MeanwhileError } from "../../../base/error.ts"
import type { Database, Query } from "../connection/database.ts"
import { toOwnerCommand } from "../connection/owner-command.ts"
import { lockMigration } from "./migrations.ts"
import { toQueueSchema } from "./queue-schema.ts"
import { findMissingRights, formatMissingRights, type MissingRights } from "./role-rights.ts"

export interface GrantOptions {
  readonly database: Database
  readonly url: string
  readonly schema: string
  readonly role: string
}

const RIGHTS = [
  { rights: "SELECT, INSERT, UPDATE, DELETE", kind: "TABLES" },
  { rights: "USAGE, SELECT", kind: "SEQUENCES" },
  { rights: "EXECUTE", kind: "FUNCTIONS" },
]

/** Refuses an unknown role, so that a mistyped name is found before anything is changed. */
export async function requireRole(query: Query, role: string): Promise<void> {
  const found = await query("SELECT FROM pg_roles WHERE rolname = $1", [role])
  if (found.length > 0) return
  const name = quoteName(role)
  const text = `There is no role ${name} on this server. Create it first (CREATE ROLE ${name} LOGIN), or correct the name.`
  throw new MeanwhileError("not_found", text, { role })
}

/**
 * Lets a role use the store, but not change its tables; this includes the tables that later migrations add. True if the
 * role could not use it before. The server at most warns a role that grants what it does not own. So the rights are
 * looked at afterwards, and an error says which are missing.
 */
export async function grantUse(wish: GrantOptions): Promise<boolean> {
  const { database, schema, role } = wish
  const lackedBefore = await findMissingRights(database.query, schema, role)
  try {
    await database.transaction((query) => grantAll(query, wish))
  } catch (error) {
    if (!isMeanwhileError(error, "store_read_only")) throw error
  }
  const lacking = await findMissingRights(database.query, schema, role)
  if (lacking.length > 0) throw await toRefusal(wish, lacking)
  return lackedBefore.length > 0
}

/**
 * Grants all rights. Rolled back if rights on the store itself are still missing: nothing is left behind in the name of
 * a role that does not own it.
 */
async function grantAll(query: Query, { schema, role }: GrantOptions): Promise<void> {
  await lockMigration(query, schema)
  const [row] = await query<{ name: string }>("SELECT current_database()::text AS name")
  await query(toGrants(schema, row?.name ?? "", role).join(";\n"))
  const lacking = await findMissingRights(query, schema, role)
  if (lacking.some(isOfStore)) throw new MeanwhileError("store_read_only", "The store could not be given.")
}

function toGrants(schema: string, database: string, role: string): readonly string[] {
  const grantee = quoteName(role)
  const ofSchemas = [schema, toQueueSchema(schema)].flatMap((name) => [
    `GRANT USAGE ON SCHEMA ${name} TO ${grantee}`,
    ...RIGHTS.flatMap(({ rights, kind }) => [
      `GRANT ${rights} ON ALL ${kind} IN SCHEMA ${name} TO ${grantee}`,
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${name} GRANT ${rights} ON ${kind} TO ${grantee}`,
    ]),
  ])
  return [`GRANT CONNECT ON DATABASE ${quoteName(database)} TO ${grantee}`, ...ofSchemas]
}

async function toRefusal(wish: GrantOptions, lacking: readonly MissingRights[]): Promise<MeanwhileError> {
  const { database, url, role } = wish
  const [row] = await database.query<{ granter: string }>("SELECT current_user::text AS granter")
  const ofStore = lacking.filter(isOfStore)
  const [first = lacking[0]] = ofStore
  const owner = first?.owner ?? null
  const text =
    ofStore.length > 0
      ? `The role ${role} may not use the store: it lacks ${formatMissingRights(ofStore)}, and the role ${row?.granter} may not give them. It belongs to ${owner}: run \`${toOwnerCommand(url, owner, role)}\` as that role, or as another that may.`
      : `The role ${role} may use the tables of the store, but not connect to the database ${first?.name}, and the role ${row?.granter} may not let it. Run \`GRANT CONNECT ON DATABASE ${first?.name} TO ${quoteName(role)}\` as ${owner}, who owns the database, or as a superuser.`
  return new MeanwhileError("store_read_only", text, { role, owner })
}

const isOfStore = ({ kind }: MissingRights): boolean => kind !== "database"

const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`
