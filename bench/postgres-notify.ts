import pg from "pg"
import type { TestServer } from "../test/support/postgres/server.ts"
import type { Report } from "./benchmark.ts"
import { median } from "./statistics.ts"

const WRITERS = 50
const LISTENERS = 50
const ROUND_MS = 3_000
const ROUNDS = 5
const CHANNEL = "changes"

const WAYS = [
  { metric: "commits_per_second_without_notify", notifies: false, isHeard: false },
  { metric: "commits_per_second_with_notify", notifies: true, isHeard: false },
  { metric: "commits_per_second_with_notify_and_50_listeners", notifies: true, isHeard: true },
] as const

/**
 * Where the ceiling is: one row and one notification in each transaction, from as many connections as a large fleet commits
 * on at once. The server lets transactions that notify wait for the disk one after the other.
 */
export async function measureNotify(server: TestServer, report: Report): Promise<void> {
  await using database = await server.createDatabase()
  await using opened = new AsyncDisposableStack()
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(database.url)
    await client.connect()
    opened.defer(() => client.end())
    return client
  }
  const connectAll = (count: number) => Promise.all(Array.from({ length: count }, connect))
  const writers = await connectAll(WRITERS)
  const listeners = await connectAll(LISTENERS)
  await writers[0]?.query("CREATE TABLE kept (value text)")

  const rates = new Map<string, number[]>(WAYS.map(({ metric }) => [metric, []]))
  for (let round = 0; round < ROUNDS; round++) {
    report.progressed(`commits that notify, round ${round + 1} of ${ROUNDS}`)
    for (const { metric, notifies, isHeard } of WAYS) {
      if (isHeard) await Promise.all(listeners.map((client) => client.query(`LISTEN ${CHANNEL}`)))
      rates.get(metric)?.push(await measureCommits(writers, notifies))
      if (isHeard) await Promise.all(listeners.map((client) => client.query(`UNLISTEN ${CHANNEL}`)))
    }
  }
  for (const [metric, measured] of rates) report.measured({ metric, unit: "commits/s", ours: median(measured) })
}

async function measureCommits(writers: readonly pg.Client[], notifies: boolean): Promise<number> {
  const notification = notifies ? `, pg_notify('${CHANNEL}', 'an id and a number')` : ""
  const statement = `WITH row AS (INSERT INTO kept VALUES ('something') RETURNING value) SELECT value${notification} FROM row`
  const untilMs = performance.now() + ROUND_MS
  let commits = 0
  const write = async (client: pg.Client): Promise<void> => {
    for (; performance.now() < untilMs; commits++) await client.query(statement)
  }
  await Promise.all(writers.map(write))
  return commits / (ROUND_MS / 1_000)
}
