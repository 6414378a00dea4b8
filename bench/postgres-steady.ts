import { setTimeout as sleep } from "node:timers/promises"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { TestServer } from "../test/support/postgres/server.ts"
import type { Report } from "./benchmark.ts"
import { openCostRuntime } from "./postgres-cost-runtime.ts"
import { openWatch, type Watch } from "./server-watch.ts"
import { createTurnModel, QUESTION } from "./turn-model.ts"

const AGENTS = 200
const FASTEST_CALL_MS = 5_000
const SLOWEST_CALL_MS = 15_000
/** The average length of a turn, which asks the model twice: conversations begin spread over this time. */
const BEGIN_WITHIN_MS = FASTEST_CALL_MS + SLOWEST_CALL_MS
const WINDOW_MS = 60_000

/**
 * One worker as a large fleet has them: 200 agents that nearly always wait for their models, about ten turns a second however
 * quick the server is. The figures include the upkeep of the worker, which is measured alone first.
 */
export async function measureSteady(server: TestServer, report: Report): Promise<void> {
  await using database = await server.createDatabase()
  await using runtime = await openCostRuntime(database.url, toSlow(createTurnModel()))
  await using watch = await openWatch(database.url)

  await measureIdle(watch, report, "idle")
  const sessions = await Promise.all(Array.from({ length: AGENTS }, () => runtime.createSession()))
  await measureIdle(watch, report, `idle_with_${AGENTS}_agents`)

  report.progressed(`a worker with ${AGENTS} agents that wait for models`)
  let turns = 0
  let isOver = false
  const talking = sessions.map(async (session, index) => {
    await sleep((index / AGENTS) * BEGIN_WITHIN_MS)
    for (; !isOver; turns++) await session.send(QUESTION)
  })
  await sleep(2 * BEGIN_WITHIN_MS)
  const turnsBefore = turns
  const before = await watch.read()
  await sleep(WINDOW_MS)
  const after = await watch.read()
  const ended = turns - turnsBefore
  isOver = true
  await Promise.all(talking)

  report.measured({ metric: "turns_per_second_steady", unit: "turns/s", ours: ended / (WINDOW_MS / 1_000) })
  const measured = (metric: string, unit: string, used: number) =>
    report.measured({ metric: `${metric}_per_turn_steady`, unit, ours: used / ended })
  measured("rows", "rows", after.rows - before.rows)
  measured("kilobytes", "kB", (after.bytes - before.bytes) / 1_000)
  measured("log_kilobytes", "kB", (after.logBytes - before.logBytes) / 1_000)
  for (const [metric, key] of COUNTED) measured(metric, key, after[key] - before[key])
}

/** What an idle process costs the server. */
async function measureIdle(watch: Watch, report: Report, suffix: string): Promise<void> {
  report.progressed(suffix.replaceAll("_", " "))
  const before = await watch.read()
  await sleep(WINDOW_MS)
  const after = await watch.read()
  for (const [metric, key] of COUNTED) {
    const ours = (after[key] - before[key]) / (WINDOW_MS / 1_000)
    report.measured({ metric: `${metric}_per_second_${suffix}`, unit: `${key}/s`, ours })
  }
}

const COUNTED = [
  ["statements", "statements"],
  ["writing_transactions", "transactions"],
  ["notifications", "notifications"],
] as const

/** The same model, which answers as slowly as real ones do. */
function toSlow(model: LanguageModelV4): LanguageModelV4 {
  return {
    ...model,
    async doStream(options) {
      await sleep(FASTEST_CALL_MS + Math.random() * (SLOWEST_CALL_MS - FASTEST_CALL_MS))
      return model.doStream(options)
    },
  }
}
