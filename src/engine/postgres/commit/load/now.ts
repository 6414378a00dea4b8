import type { Query } from "../../connection/database.ts"

/** The time of the server, in whole milliseconds. It goes on within a transaction. */
export const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

export async function readNow(query: Query): Promise<number> {
  const [row] = await query<{ now: number }>(`SELECT ${NOW} AS now`)
  return row?.now ?? 0
}
