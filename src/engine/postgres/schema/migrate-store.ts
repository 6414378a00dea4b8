import { DEFAULT_SCHEMA } from "../connection/client-settings.ts"
import type { DatabaseOptions } from "../connection/database.ts"
import { openDatabase } from "../connection/open-database.ts"
import { grantUse, requireRole } from "./grant-use.ts"
import { ensureVersion, isCurrent } from "./migrations.ts"
import { findLackingOwnership, findLackingUse, type LackingRight } from "./role-rights.ts"

export interface MigrateStoreOptions extends Pick<DatabaseOptions, "url" | "schema"> {
  /** A role that may use the store from then on, without the right to change its tables. */
  readonly grantTo?: string
  /** Lines for the person who waits. */
  readonly tell?: (line: string) => void
}

export interface StoreMigration {
  /** False: the tables were of this version already. */
  readonly hasChanged: boolean
  /** False: the role could use the store before, or none was named. */
  readonly hasGranted: boolean
}

/** Migrates a store to this version without opening an engine on it. Fails if the named role may not use it afterwards. */
export async function migrateStore(options: MigrateStoreOptions): Promise<StoreMigration> {
  const { url, schema = DEFAULT_SCHEMA, grantTo, tell = () => {} } = options
  const database = await openDatabase({ url, schema, tell })
  try {
    if (grantTo !== undefined) await requireRole(database.query, grantTo)
    const hasChanged = await ensureVersion({ url, schema, database, tell })
    const hasGranted = grantTo !== undefined && (await grantUse({ database, url, schema, role: grantTo }))
    return { hasChanged, hasGranted }
  } finally {
    await database.close()
  }
}

export interface StoreLook {
  /** The version of the server, as it tells it. */
  readonly serverVersion: string
  /** False: the next process that opens the store migrates it. */
  readonly isCurrent: boolean
  /** A right that the role needs to use the store and lacks; null: none. */
  readonly lacking: LackingRight | null
}

/** Looks at a store without changing it. Refused for the reasons for which opening the store would be. */
export async function lookAtStore({ url, schema = DEFAULT_SCHEMA, tell }: MigrateStoreOptions): Promise<StoreLook> {
  const database = await openDatabase({ url, schema, ...(tell && { tell }) })
  try {
    const { query } = database
    const [row] = await query<{ version: string }>("SELECT current_setting('server_version') AS version")
    const hasVersion = await isCurrent(query, schema)
    const lacking = await (hasVersion ? findLackingUse : findLackingOwnership)(database, schema)
    return { serverVersion: row?.version ?? "", isCurrent: hasVersion, lacking }
  } finally {
    await database.close()
  }
}
