import pg from "pg"
import { z } from "zod"
import { createRuntime, type Runtime } from "../src/index.ts"
import { createPostgresEngine } from "../src/engine/postgres/engine.ts"
import { startTestServer, type TestServer } from "../src/engine/postgres/test-server.ts"
import { definePlugin } from "../src/plugin/define-plugin.ts"
import { defineTool } from "../src/plugin/tool.ts"
import type { Benchmark, Report } from "./benchmark.ts"
import { measureRate, runTask } from "./closed-loop.ts"
import { noOp } from "./tools.ts"
import { createTurnModel, LOOKUP_TOOL, lookUpWeather, QUESTION } from "./turn-model.ts"

const TASKS = 2_000
const CONVERSATIONS = 100
const TURNS_EACH = 10
const TURNS = CONVERSATIONS * TURNS_EACH

/** Closed loops of so many: an idle store, whose transactions have one writer each, and one with many agents. */
const SHAPES = [
  { suffix: "", atOnce: 1 },
  { suffix: "_at_once", atOnce: 50 },
] as const

export const postgresCost: Benchmark = {
  name: "postgres-cost",
  summary: "what a turn with one tool call, and a task in the background, take of a server: rows, bytes, transactions",
  async run(report) {
    await using server = await startTestServer({ isDurable: true })
    for (const { suffix, atOnce } of SHAPES) {
      await measure(server, report, { unit: "turn", suffix, count: TURNS, run: (runtime) => converse(runtime, atOnce) })
      const run = (runtime: Runtime) => measureRate(TASKS, atOnce, () => runTask(runtime))
      await measure(server, report, { unit: "task", suffix, count: TASKS, run })
    }
  },
}

interface Load {
  readonly unit: "turn" | "task"
  readonly suffix: string
  readonly count: number
  readonly run: (runtime: Runtime) => Promise<unknown>
}

async function measure(server: TestServer, report: Report, { unit, suffix, count, run }: Load): Promise<void> {
  report.progressed(`${unit}${suffix}`)
  await using database = await server.createDatabase()
  await using runtime = await openRuntime(database.url)
  await using watcher = await openWatcher(database.url)
  const before = await watcher.read()
  await run(runtime)
  const after = await watcher.read()
  const measured = (metric: string, of: string, used: number) =>
    report.measured({ metric: `${metric}_per_${unit}${suffix}`, unit: of, ours: used / count })
  measured("rows", "rows", after.rows - before.rows)
  measured("kilobytes", "kB", (after.bytes - before.bytes) / 1_000)
  measured("log_kilobytes", "kB", (after.logBytes - before.logBytes) / 1_000)
  measured("writing_transactions", "transactions", after.transactions - before.transactions)
  measured("notifications", "notifications", after.notifications - before.notifications)
}

async function openRuntime(url: string): Promise<Runtime> {
  const input = z.object({ city: z.string() })
  const lookUp = defineTool({ name: LOOKUP_TOOL, description: "The weather.", input, run: lookUpWeather })
  const plugin = definePlugin({ kind: "tool", name: "work", tools: [lookUp, noOp] })
  const background = { maxConcurrentTasks: 100, maxConcurrentPerPlugin: 100 }
  const engine = await createPostgresEngine({ url })
  return createRuntime({ engine, model: createTurnModel(), plugins: [plugin], background })
}

async function converse(runtime: Runtime, atOnce: number): Promise<void> {
  let begun = 0
  const talk = async (): Promise<void> => {
    while (begun++ < CONVERSATIONS) {
      const session = await runtime.createSession()
      for (let turn = 0; turn < TURNS_EACH; turn++) await session.send(QUESTION)
      await session.close()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, talk))
}

interface Standing {
  readonly rows: number
  readonly bytes: number
  readonly logBytes: number
  readonly transactions: number
  readonly notifications: number
}

/** Looks from outside, as any listener of the store hears it. */
async function openWatcher(url: string): Promise<AsyncDisposable & { read(): Promise<Standing> }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let notifications = 0
  client.on("notification", () => void (notifications += 1))
  await client.query("LISTEN meanwhile_changes")
  return {
    async read() {
      const { rows } = await client.query<Record<"bytes" | "log_bytes" | "transactions", string>>(SIZES)
      const tables = await client.query<{ name: string }>(TABLES)
      const [sizes] = rows
      const counts = tables.rows.map(({ name }) => `(SELECT count(*) FROM ${name})`)
      const counted = await client.query<{ sum: string }>(`SELECT ${counts.join(" + ")} AS sum`)
      return {
        rows: Number(counted.rows[0]?.sum),
        bytes: Number(sizes?.bytes),
        logBytes: Number(sizes?.log_bytes),
        transactions: Number(sizes?.transactions),
        notifications,
      }
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

const OURS = "FROM pg_tables WHERE schemaname IN ('meanwhile', 'meanwhile_queue')"
const TABLES = `SELECT format('%I.%I', schemaname, tablename) AS name ${OURS}`
/** Transactions by their numbers, which only those that write have: the server's statistics come some seconds later. */
const SIZES = `SELECT
  (SELECT sum(pg_total_relation_size(format('%I.%I', schemaname, tablename)::regclass)) ${OURS}) AS bytes,
  pg_current_wal_lsn() - '0/0'::pg_lsn AS log_bytes,
  pg_snapshot_xmax(pg_current_snapshot())::text AS transactions`
