import { type ConnectionOptions, DEFAULT_SCHEMA } from "../connection/client-settings.ts"
import type { Database } from "../connection/database.ts"
import { openDatabase } from "../connection/open-database.ts"
import { isCurrent, migrate } from "./migrations.ts"

export interface VersionWish extends Pick<ConnectionOptions, "url" | "schema"> {
  readonly database: Database
  /** Once it aborts, neither a server that is away nor somebody who uses the tables is waited for. */
  readonly leaving?: AbortSignal
  /** A line for the person who waits. */
  tell(line: string): void
}

const TELL_AFTER_MS = 800
const TELL_AGAIN_MS = 10_000

/**
 * Brings the store to this version, on connections of its own where nothing has a time limit: a large table takes as long
 * as it takes, and so does another process that is at it already. Answers whether anything had to be changed.
 */
export async function ensureVersion(wish: VersionWish): Promise<boolean> {
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
  "Somebody uses the tables and does not let go, as a backup does. They are changed as soon as that is over; look into pg_stat_activity."
