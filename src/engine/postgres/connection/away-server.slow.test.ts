import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { eventually } from "../../../../test/support/eventually.ts"
import { createTestDatabase, type TestDatabase } from "../../../../test/support/postgres/server.ts"
import type { Database, DatabaseOptions } from "./database.ts"
import { openDatabase } from "./open-database.ts"
import { type Proxy, startProxy } from "../../../../test/support/postgres/proxy.ts"
import { toErrorResponse } from "../../../../test/support/postgres/refusal.ts"

let place: TestDatabase
let proxy: Proxy
let lines: string[]

beforeAll(async () => {
  place = await createTestDatabase()
  proxy = await startProxy(place.url)
})

beforeEach(() => {
  proxy.onRequest = () => "pass"
  lines = []
})

afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await place.drop()
})

async function open(options: Partial<DatabaseOptions> = {}): Promise<Database> {
  const database = await openDatabase({ url: proxy.url, tell: (line) => lines.push(line), ...options })
  onTestFinished(() => database.close())
  // On a busy machine, opening may say that the server does not answer yet.
  lines = []
  return database
}

const says = (pattern: RegExp) => eventually(`it says ${pattern}`, () => lines.some((line) => pattern.test(line)))

const REFUSAL = toErrorResponse("28P01", "password authentication failed")
const WAYS: readonly { readonly way: string; readonly onRequest: Proxy["onRequest"] }[] = [
  { way: "cuts every connection", onRequest: () => "cut" },
  { way: "does not answer", onRequest: () => "hold" },
  { way: "lets nobody in any more", onRequest: (data) => (data.includes("user\0") ? REFUSAL : "cut") },
]

describe.each(WAYS)("a server that $way", ({ onRequest }) => {
  test("is reported once, is waited for, and is reported when it is back", async () => {
    const database = await open({ patienceMs: Number.POSITIVE_INFINITY })
    proxy.onRequest = onRequest
    const asked = database.query("SELECT 1 AS one")
    await says(/^The store at \S+ .*Waiting for it/)
    proxy.onRequest = () => "pass"
    await says(/is back, after \d+ s/)
    expect(await asked).toEqual([{ one: 1 }])
    expect(lines).toHaveLength(2)
  })

  test("is not waited for by those who leave, nor when the store is closed", async () => {
    const leaving = new AbortController()
    const database = await open({ patienceMs: Number.POSITIVE_INFINITY, leaving: leaving.signal })
    const another = await open({ patienceMs: Number.POSITIVE_INFINITY })
    proxy.onRequest = onRequest
    const asked = Promise.allSettled([database.query("SELECT 1"), another.transaction((query) => query("SELECT 1"))])
    leaving.abort()
    await another.close()
    expect((await asked).map(({ status }) => status)).toEqual(["rejected", "rejected"])
    await expect(database.query("SELECT 1")).rejects.toMatchObject({ code: "store_unavailable" })
  })
})

test("a server that is away at the start is reported within a second, with how long it is waited for", async () => {
  const url = "postgres://me@127.0.0.1:1/x"
  const opening = open({ url, startPatienceMs: 1_500 })
  await says(/does not answer yet.* up to 1\.5 s/)
  await expect(opening).rejects.toMatchObject({ code: "store_unavailable" })
  expect(lines).toHaveLength(1)
})

test("a long statement on a server that can be reached is not reported", async () => {
  const database = await open()
  await database.query("SELECT pg_sleep(1.5)")
  expect(lines).toEqual([])
})

test("a statement without a time limit goes on although the server let nobody in for a while", async () => {
  const database = await open({ statementTimeoutMs: 0 })
  let sent = 0
  const count = (data: Buffer): void => void (sent += Number(data.includes("pg_sleep")))
  proxy.onRequest = (data) => {
    count(data)
    return data.includes("user\0") ? "cut" : "pass"
  }
  const asked = database.query("SELECT pg_sleep(12)")
  await says(/^The store at \S+ .*Waiting for it/)
  proxy.onRequest = (data) => {
    count(data)
    return "pass"
  }
  await says(/is back/)
  await asked
  expect(sent).toBe(1)
})

test("a server that takes no writes is refused at once", async () => {
  await using standby = await createTestDatabase()
  const { pathname } = new URL(standby.url)
  const owner = await openDatabase({ url: standby.url, poolSize: 1 })
  await owner.query(`ALTER DATABASE ${pathname.slice(1)} SET default_transaction_read_only TO on`)
  await owner.close()
  await expect(openDatabase({ url: standby.url })).rejects.toMatchObject({ code: "store_read_only" })
})
