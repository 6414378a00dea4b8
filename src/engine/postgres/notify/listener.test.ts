import { afterEach, beforeEach, expect, test } from "vitest"
import { waitUntil } from "../../suite/subject.ts"
import type { Database } from "../connection/database.ts"
import { openDatabase } from "../connection/open-database.ts"
import { createListener, type Listener } from "./listener.ts"
import { type DeafProxy, startDeafProxy } from "../../../../test/support/postgres/deaf-proxy.ts"
import { createTestDatabase, type TestDatabase } from "../../../../test/support/postgres/server.ts"

let place: TestDatabase
let database: Database
let proxy: DeafProxy
let told: string[]

beforeEach(async () => {
  place = await createTestDatabase()
  database = await openDatabase({ url: place.url, poolSize: 1 })
  proxy = await startDeafProxy(place.url)
  told = []
})

afterEach(async () => {
  await database.close()
  await proxy[Symbol.asyncDispose]()
  await place.drop()
})

function listen(answerMs: number): Listener {
  return createListener({
    client: { connectionString: proxy.url },
    database,
    channel: "news",
    onPayload: (payload) => told.push(payload),
    onGap: () => told.push("a gap"),
    onState: () => {},
    onDeaf: () => told.push("deaf"),
    times: { answerMs },
  })
}

test("notifications from before it could listen count as a gap", async () => {
  proxy.mode = "silent"
  const listener = listen(200)
  await listener.isReady
  expect(told).toEqual([])
  proxy.mode = "open"
  await waitUntil(async () => told.length > 0)
  await database.query("SELECT pg_notify('news', 'something')")
  await waitUntil(async () => told.length > 1)
  expect(told).toEqual(["a gap", "something"])
  await listener.close()
})

test("notifications are heard from the beginning without a gap", async () => {
  const listener = listen(5_000)
  await listener.isReady
  await database.query("SELECT pg_notify('news', 'something')")
  await waitUntil(async () => told.length > 0)
  expect(told).toEqual(["something"])
  await listener.close()
})

test("closing waits for no answer", async () => {
  proxy.mode = "silent"
  const listener = listen(3_600_000)
  await waitUntil(async () => proxy.connectionCount() > 0)
  await listener.close()
  await listener.isReady
  expect(told).toEqual([])
})
