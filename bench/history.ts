import { DatabaseSync } from "node:sqlite"
import type { Benchmark } from "./benchmark.ts"
import { createFolder } from "./folder.ts"
import { insertCopies, readTaskRows, type TaskRows } from "./reference/task-rows.ts"
import type { Runtime } from "../src/app.ts"
import { measureReading, READ_TASKS, recordFinishedTasks } from "./reading.ts"
import { openRuntime, storePathIn } from "./runtime.ts"
import { median, timed } from "./statistics.ts"
import { failing, noOp } from "./tools.ts"

const FINISHED_TASKS = 1_000_000
const OPENINGS = 5

export const history: Benchmark = {
  name: "history",
  summary: "reading from and opening a store with a million finished tasks",
  async run(report) {
    using folder = createFolder("history")
    const templates = await recordTemplates(folder.path)
    report.progressed(`writing ${FINISHED_TASKS} finished tasks`)
    const ids = fill(storePathIn(folder.path), templates)

    report.progressed("opening")
    const openings: number[] = []
    for (let index = 0; index < OPENINGS; index++) {
      let opened: Runtime | undefined
      openings.push(await timed(async () => void (opened = await open(folder.path))))
      await opened?.close()
    }

    report.progressed("reading")
    await using runtime = await open(folder.path)
    const { getMs, listMs } = await measureReading(runtime, ids)
    report.measured({ metric: "get_ms_p99", unit: "ms", ours: getMs, bar: { of: "ours", atMost: 5 } })
    report.measured({ metric: "list_ms_p99", unit: "ms", ours: listMs, bar: { of: "ours", atMost: 5 } })
    report.measured({ metric: "open_ms", unit: "ms", ours: median(openings), bar: { of: "ours", atMost: 300 } })
  },
}

const open = (folder: string): Promise<Runtime> => openRuntime({ folder, tools: [noOp, failing] })

async function recordTemplates(folder: string): Promise<readonly TaskRows[]> {
  const runtime = await open(folder)
  const ids = await recordFinishedTasks(runtime)
  await runtime.close()
  const database = new DatabaseSync(storePathIn(folder), { readOnly: true })
  const templates = ids.map((id) => readTaskRows(database, id))
  database.close()
  return templates
}

/** Returns some of the ids, from all over the store. */
function fill(path: string, templates: readonly TaskRows[]): readonly string[] {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY; BEGIN")
  const share = Math.ceil(FINISHED_TASKS / templates.length)
  const firstNumber = 1 + Number(database.prepare("SELECT max(number) AS number FROM tasks").get()?.["number"] ?? 0)
  for (const [index, rows] of templates.entries()) insertCopies(database, rows, firstNumber + index * share, share)
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
  const every = Math.floor(FINISHED_TASKS / READ_TASKS)
  const rows = database.prepare("SELECT id FROM tasks WHERE number % ? = 0 LIMIT ?").all(every, READ_TASKS)
  const written = Number(database.prepare("SELECT count(*) AS count FROM tasks").get()?.["count"])
  if (written < FINISHED_TASKS) throw new Error(`the store has only ${written} tasks`)
  database.close()
  return rows.map((row) => String(row["id"]))
}
