import type { TestServer } from "../test/support/postgres/server.ts"
import { startTestServer } from "../test/support/postgres/server.ts"
import type { Bar, Benchmark, Report } from "./benchmark.ts"
import { createPostgresEngine } from "../src/engine/postgres/engine.ts"
import type { Engine } from "../src/task/engine.ts"
import { listenForEnds, measureRate, runTask, startTask } from "./closed-loop.ts"
import { measureGrowth } from "./postgres-growth.ts"
import { measureLatency } from "./postgres-latency.ts"
import { byPulling, byPullingBatches, byWork, openPgBoss, type PgBossForm } from "./reference/pg-boss.ts"
import { openPostgresRuntime } from "./runtime.ts"
import { median } from "./statistics.ts"
import { noOp } from "./tools.ts"

const IN_FLIGHT = 100
const TASKS_PER_ROUND = 2_000
const ROUNDS = 7
/** A worker lives for days. Node compiles for some twenty thousand tasks before the speed is steady; all ways get as many. */
const WARM_UPS = 12
const QUEUED = "tasks_per_second"
const WITH_RESULTS = "tasks_per_second_with_results"
const PAST_THE_QUEUE = "tasks_per_second_past_the_queue"

interface Reference {
  readonly suffix: string
  readonly name: string
  readonly form: PgBossForm
  readonly bar: Bar
}

const REFERENCES: readonly Reference[] = [
  {
    suffix: "vs_work",
    name: "bare pg-boss: send, then work() with batches, NOTIFY and burst",
    form: byWork,
    bar: { of: "ratio", atLeast: 3 },
  },
  {
    suffix: "vs_pull",
    name: "bare pg-boss: send, fetch and complete, one job each",
    form: byPulling,
    bar: { of: "ratio", atLeast: 2 },
  },
  {
    suffix: "vs_batched_pull",
    name: "bare pg-boss: insert, fetch and complete in batches",
    form: byPullingBatches,
    bar: { of: "ratio", atLeast: 0.4 },
  },
]

export const postgres: Benchmark = {
  name: "postgres",
  summary:
    "durable tasks on PostgreSQL, 100 in flight, each counted when who started it hears that it has ended (with_results: has read its result), beside bare pg-boss that enqueues, works off and completes in the same closed loop",
  async run(report) {
    await using server = await startTestServer({ isDurable: true })
    await measureRates(server, report)
    await measureLatency(server, report)
    await measureGrowth(server, report)
  },
}

/**
 * Our tasks go through the queue as the jobs of pg-boss do: one runtime starts them, another one in the same process runs them,
 * and a task counts once the starter hears that its end is durable. Two more ways are measured afterwards, by themselves: the
 * same with the starter reading each result, and one runtime that runs its own tasks, past the queue while it is empty.
 */
async function measureRates(server: TestServer, report: Report): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const createDatabase = async () => opened.use(await server.createDatabase())
  const openRuntime = async (url: string, atOnce: number, engine?: Engine) =>
    opened.use(await openPostgresRuntime({ url, tools: [noOp], atOnce, ...(engine && { engine }) }))
  const { url } = await createDatabase()
  await openRuntime(url, 2 * IN_FLIGHT)
  const engine = await createPostgresEngine({ url })
  const starter = await openRuntime(url, 0, engine)
  const heard = listenForEnds(engine.bus)
  const measure = (runOne: () => Promise<void>) => measureRate(TASKS_PER_ROUND, IN_FLIGHT, runOne)
  const ways = new Map([[QUEUED, () => measure(() => startTask(starter, heard))]])
  for (const { suffix, form } of REFERENCES) {
    const boss = await openPgBoss((await createDatabase()).url)
    opened.defer(() => boss.stop({ graceful: false }))
    ways.set(suffix, () => form(boss, TASKS_PER_ROUND, IN_FLIGHT))
  }
  const beside = await measureInTurns(ways, report)
  const alone = await openRuntime((await createDatabase()).url, 2 * IN_FLIGHT)
  const others = await measureInTurns(
    new Map([
      [WITH_RESULTS, () => measure(() => runTask(starter))],
      [PAST_THE_QUEUE, () => measure(() => runTask(alone))],
    ]),
    report,
  )
  await requireAllCompleted(engine.store, 2 * TASKS_PER_ROUND * (WARM_UPS + ROUNDS))
  for (const [way, ours] of [[QUEUED, beside.get(QUEUED) ?? []] as const, ...others]) {
    for (const { suffix, name, bar } of REFERENCES) {
      const theirs = beside.get(suffix) ?? []
      const ratio =
        way === QUEUED
          ? median(ours.map((rate, round) => rate / (theirs[round] ?? Number.NaN)))
          : median(ours) / median(theirs)
      const reference = { name, value: median(theirs), ratio }
      const metric = `${way}_${suffix}`
      report.measured({ metric, unit: "tasks/s", ours: median(ours), reference, ...(way === QUEUED && { bar }) })
    }
  }
}

/** A wake-up tells that a task has ended and not how, so the store is asked whether all of them completed. */
async function requireAllCompleted({ countTasks }: Engine["store"], expected: number): Promise<void> {
  const [all, completed] = await Promise.all([countTasks({}), countTasks({ statuses: ["completed"] })])
  if (all !== expected || completed !== expected) throw new Error(`of ${all} tasks ${completed} were completed`)
}

/** Measures every way once per round, beginning with another one each time. The first rounds warm up and do not count. */
async function measureInTurns(
  ways: ReadonlyMap<string, () => Promise<number>>,
  report: Report,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rates = new Map<string, number[]>([...ways.keys()].map((name) => [name, []]))
  const names = [...ways.keys()]
  for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
    report.progressed(`tasks per second, round ${round + 1} of ${WARM_UPS + ROUNDS}`)
    for (const name of [...names.slice(round % names.length), ...names.slice(0, round % names.length)]) {
      const rate = await ways.get(name)?.()
      if (round >= WARM_UPS && rate !== undefined) rates.get(name)?.push(rate)
    }
  }
  return rates
}
