import { startTestServer, type TestServer } from "../test/support/postgres/server.ts"
import type { Runtime } from "../src/index.ts"
import type { Benchmark, Report } from "./benchmark.ts"
import { measureRate, runTask } from "./closed-loop.ts"
import { openCostRuntime } from "./postgres-cost-runtime.ts"
import { measureNotify } from "./postgres-notify.ts"
import { measureSteady } from "./postgres-steady.ts"
import { COUNTING_SETTINGS, openWatch } from "./server-watch.ts"
import { createTurnModel, QUESTION } from "./turn-model.ts"

const TASKS = 2_000
const CONVERSATIONS = 100
const TURNS_EACH = 10
const TURNS = CONVERSATIONS * TURNS_EACH

/** How many turns or tasks are under way: 1, so that each transaction has one writer, and 50, as with many agents. */
const SHAPES = [
  { suffix: "", atOnce: 1 },
  { suffix: "_at_once", atOnce: 50 },
] as const

export const postgresCost: Benchmark = {
  name: "postgres-cost",
  summary:
    "what a turn with one tool call, and a task in the background, take of a server: rows, bytes, statements, transactions; a worker with 200 agents that wait for models (steady), one that does nothing (idle), and the most commits that notify",
  async run(report) {
    await using server = await startTestServer({ isDurable: true, settings: COUNTING_SETTINGS })
    for (const { suffix, atOnce } of SHAPES) {
      await measure(server, report, { unit: "turn", suffix, count: TURNS, run: (runtime) => converse(runtime, atOnce) })
      const run = (runtime: Runtime) => measureRate(TASKS, atOnce, () => runTask(runtime))
      await measure(server, report, { unit: "task", suffix, count: TASKS, run })
    }
    await measureSteady(server, report)
    await measureNotify(server, report)
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
  await using runtime = await openCostRuntime(database.url, createTurnModel())
  await using watch = await openWatch(database.url)
  const before = await watch.read()
  await run(runtime)
  const after = await watch.read()
  const measured = (metric: string, of: string, used: number) =>
    report.measured({ metric: `${metric}_per_${unit}${suffix}`, unit: of, ours: used / count })
  measured("rows", "rows", after.rows - before.rows)
  measured("kilobytes", "kB", (after.bytes - before.bytes) / 1_000)
  measured("log_kilobytes", "kB", (after.logBytes - before.logBytes) / 1_000)
  measured("statements", "statements", after.statements - before.statements)
  measured("writing_transactions", "transactions", after.transactions - before.transactions)
  measured("notifications", "notifications", after.notifications - before.notifications)
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
