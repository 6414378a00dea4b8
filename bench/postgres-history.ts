import pg from "pg"
import { startTestServer } from "../test/support/postgres/server.ts"
import type { Benchmark } from "./benchmark.ts"
import { measureReading, READ_TASKS, recordFinishedTasks } from "./reading.ts"
import { insertTaskCopies } from "./reference/task-copies.ts"
import { openPostgresRuntime } from "./runtime.ts"
import { failing, noOp } from "./tools.ts"

const FINISHED_TASKS = 1_000_000

export const postgresHistory: Benchmark = {
  name: "postgres-history",
  summary: "reading from a store on PostgreSQL with a million finished tasks",
  async run(report) {
    await using server = await startTestServer({ isDurable: true, settings: ["max_wal_size=8GB"] })
    await using database = await server.createDatabase()
    await using runtime = await openPostgresRuntime({ url: database.url, tools: [noOp, failing], atOnce: 10 })
    const templates = await recordFinishedTasks(runtime)
    report.progressed(`writing ${FINISHED_TASKS} finished tasks`)
    const ids = await fill(database.url, templates)
    report.progressed("reading")
    const { getMs, listMs } = await measureReading(runtime, ids)
    report.measured({ metric: "get_ms_p99", unit: "ms", ours: getMs, bar: { of: "ours", atMost: 10 } })
    report.measured({ metric: "list_ms_p99", unit: "ms", ours: listMs, bar: { of: "ours", atMost: 10 } })
  },
}

/** Returns some of the ids, from all over the store. */
async function fill(url: string, templates: readonly string[]): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url, options: "-c search_path=meanwhile" })
  await client.connect()
  try {
    await insertTaskCopies(client, templates, Math.ceil(FINISHED_TASKS / templates.length))
    // A store that took months to grow was looked after meanwhile.
    await client.query("VACUUM (ANALYZE)")
    await client.query("CHECKPOINT")
    const { rows: counted } = await client.query<{ count: number }>("SELECT count(*)::integer AS count FROM tasks")
    if ((counted[0]?.count ?? 0) < FINISHED_TASKS) throw new Error("not all tasks were written")
    const every = Math.floor(FINISHED_TASKS / READ_TASKS)
    const sql = "SELECT id FROM tasks WHERE number % $1 = 0 LIMIT $2"
    const { rows } = await client.query<{ id: string }>(sql, [every, READ_TASKS])
    return rows.map(({ id }) => id)
  } finally {
    await client.end()
  }
}
