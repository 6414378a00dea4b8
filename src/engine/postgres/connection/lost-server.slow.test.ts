import { afterAll, beforeAll, expect, test } from "vitest"
import { startTestServer, type TestServer } from "../../../../test/support/postgres/server.ts"
import { migrate } from "../schema/migrations.ts"
import { DEFAULT_SCHEMA } from "./client-settings.ts"
import type { Database } from "./database.ts"
import { openDatabase } from "./open-database.ts"
import { startProxy } from "../../../../test/support/postgres/proxy.ts"

let server: TestServer
let database: Database

beforeAll(async () => {
  server = await startTestServer({ isDurable: true })
  const first = await openDatabase({ url: server.url })
  await migrate(first, DEFAULT_SCHEMA)
  await first.query("CREATE TABLE counters (id text PRIMARY KEY, count bigint NOT NULL)")
  await first.close()
  database = await openDatabase({ url: server.url, poolSize: 4 })
})

afterAll(async () => {
  await database.close()
  await server.stop()
})

for (const [accident, happen] of [
  ["is restarted", () => server.restart()],
  ["is ended at once and started", () => server.restart("SIGQUIT")],
  ["is killed, and comes back", () => server.kill().then(() => server.start())],
] as const)
  test(`writers and readers go on while the server ${accident}: nothing is lost, nothing happens twice`, {
    timeout: 30_000,
  }, async () => {
    await database.query("DELETE FROM counters")
    const ids = ["a", "b", "c"]
    for (const id of ids) await database.query("INSERT INTO counters VALUES ($1, 0)", [id])
    let isOver = false
    let onCommitted: () => void = () => undefined
    const counts = ids.map(async (id) => {
      let count = 0
      while (!isOver) {
        await database.transaction(async (query) => {
          await query("UPDATE counters SET count = count + 1 WHERE id = $1", [id])
          await query("SELECT count FROM counters WHERE id = $1", [id])
        })
        count += 1
        onCommitted()
      }
      return { id, count }
    })
    const reading = (async () => {
      while (!isOver) await database.query("SELECT count(*) FROM counters")
    })()
    for (let time = 0; time < 3; time++) {
      for (let commits = 0; commits < 20; commits++) await new Promise<void>((resolve) => (onCommitted = resolve))
      await happen()
    }
    await database.query("SELECT 1")
    isOver = true
    await reading
    const done = await Promise.all(counts)
    expect(await database.query("SELECT id, count FROM counters ORDER BY id")).toEqual(done)
    expect(Math.min(...done.map(({ count }) => count))).toBeGreaterThan(0)
  })

test("what is asked while the server is away is answered when it is back", async () => {
  await server.kill()
  const asked = database.query("SELECT 1 AS one")
  const written = database.transaction((query) => query("INSERT INTO counters VALUES ('late', 1) RETURNING id"))
  // Both were asked before this one, which finds no server.
  await expect(openDatabase({ url: server.url, startPatienceMs: 0 })).rejects.toMatchObject({
    code: "store_unavailable",
  })
  await server.start()
  expect(await asked).toEqual([{ one: 1 }])
  expect(await written).toEqual([{ id: "late" }])
})

test("a connection whose server hangs is given up for another one", async () => {
  await using proxy = await startProxy(server.url)
  const patient = await openDatabase({ url: proxy.url, statementTimeoutMs: 100 })
  let hangs = 1
  proxy.onRequest = (data) => (data.includes("hanging") && hangs-- > 0 ? "hold" : "pass")
  expect(await patient.query("SELECT 'hanging' AS word")).toEqual([{ word: "hanging" }])
  await patient.close()
})
