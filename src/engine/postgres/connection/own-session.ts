import type pg from "pg"
import type { ClientSettings } from "./client-settings.ts"

/**
 * Whether a connection leads to a session of the server that is ours until it ends, with the settings that it was made
 * with. A pooler may take them and drop them, or hand each transaction to another session: then the session is of another
 * process than the one that was named when the connection was made.
 */
export async function isOwnSession(client: pg.PoolClient, { hasSettings }: ClientSettings): Promise<boolean> {
  const sql = `SELECT pg_backend_pid() AS process, ${hasSettings} AS has_settings`
  const { rows } = await client.query<{ process: number; has_settings: boolean }>(sql)
  const [found] = rows
  const named = "processID" in client ? client.processID : null
  return found?.has_settings === true && found.process === named
}
