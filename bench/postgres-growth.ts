import type { TestServer } from "../test/support/postgres/server.ts"
import type { Report } from "./benchmark.ts"
import { measureRate, runTask } from "./closed-loop.ts"
import { openPostgresRuntime } from "./runtime.ts"
import { median } from "./statistics.ts"
import { noOp } from "./tools.ts"
import { startWorkerProcess } from "./worker-process.ts"

const WORKER_COUNTS = [1, 2, 4] as const
/** The same for every number of workers, and enough for the largest fleet. */
const IN_FLIGHT = 400
const TASKS_PER_ROUND = 4_000
const ROUNDS = 3
/** Rounds after which Node compiles little. */
const WARM_UPS = 5

/** Tasks per second that one process starts and 1, 2 and 4 workers run. */
export async function measureGrowth(server: TestServer, report: Report): Promise<void> {
  for (const count of WORKER_COUNTS) {
    report.progressed(`with ${count} workers`)
    report.measured({
      metric: `tasks_per_second_${count}_worker${count === 1 ? "" : "s"}`,
      unit: "tasks/s",
      ours: await measureFleet(server, count),
    })
  }
}

async function measureFleet(server: TestServer, count: number): Promise<number> {
  await using database = await server.createDatabase()
  await using runtime = await openPostgresRuntime({ url: database.url, tools: [noOp], atOnce: 0 })
  await using fleet = new AsyncDisposableStack()
  for (let index = 0; index < count; index++) {
    fleet.use(await startWorkerProcess("postgres-worker", [database.url, String(IN_FLIGHT / count)]))
  }
  const rates: number[] = []
  for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
    rates.push(await measureRate(TASKS_PER_ROUND, IN_FLIGHT, () => runTask(runtime)))
  }
  return median(rates.slice(WARM_UPS))
}
