import { openDatabase } from "../../../src/engine/postgres/connection/open-database.ts"
import { eventually } from "../eventually.ts"

/** Creates the role `careful`, which needs this password. The server's other roles need none. */
export async function createCarefulRole(serverUrl: string, password: string): Promise<void> {
  const database = await openDatabase({ url: serverUrl, poolSize: 1 })
  const [row] = await database.query<{ path: string }>("SELECT current_setting('hba_file') AS path")
  await database.query(`CREATE ROLE careful LOGIN PASSWORD '${password}'`)
  const rules = ["host all careful 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 trust"]
  const lines = rules.map((rule) => `('${rule}')`).join()
  await database.query(`COPY (VALUES ${lines}) TO '${row?.path}'; SELECT pg_reload_conf()`)
  await eventually("the rules hold", async () => {
    const found = await database.query("SELECT FROM pg_hba_file_rules WHERE 'careful' = ANY (user_name)")
    return found.length === 1
  })
  await database.close()
}
