import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import type { Wake } from "../../../task/bus.ts"
import type { SessionId, TaskId } from "../../../task/id.ts"
import { waitUntil } from "../../suite/subject.ts"
import { type BusTimes, createBus, type PostgresBus } from "./bus.ts"
import type { Database } from "../connection/database.ts"
import { openDatabase } from "../connection/open-database.ts"
import { startDeafProxy } from "../../../../test/support/postgres/deaf-proxy.ts"
import { startTestServer, type TestServer } from "../../../../test/support/postgres/server.ts"

const TIMES = { heartbeatMs: 50, answerMs: 200, probeMs: 200, deafMs: 100, pollMs: 20 }
const task = "task-1" as TaskId
const taskWake: Wake = { about: "task", taskId: task, sequence: 7 }
const foreignWake: Wake = { ...taskWake, isForeign: true }
const unknown: Wake = { about: "unknown" }

/** Gets a transaction id, as every transaction does that writes. */
const WRITE = "SELECT pg_current_xact_id()"

let server: TestServer
let closers: (() => Promise<void>)[]

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

beforeEach(() => {
  closers = []
})

afterEach(async () => {
  for (const close of closers.toReversed()) await close()
})

interface Participant {
  readonly bus: PostgresBus
  readonly database: Database
  readonly wakes: Wake[]
  readonly warnings: string[]
  readonly offerCount: () => number
  /** Notifies as a commit does. */
  tell(wakes: readonly Wake[], hasOffers?: boolean): Promise<void>
}

async function join(url = server.url, times: Partial<BusTimes> = {}): Promise<Participant> {
  const database = await openDatabase({ url, poolSize: 2 })
  const wakes: Wake[] = []
  const warnings: string[] = []
  let offers = 0
  const bus = await createBus({
    url,
    database,
    onOffers: () => offers++,
    warn: (message) => warnings.push(message),
    times: { ...TIMES, ...times },
  })
  bus.subscribe((wake) => wakes.push(wake))
  closers.push(() => database.close(), bus.close)
  async function tell(told: readonly Wake[], hasOffers = false): Promise<void> {
    const changes = [{ wakes: told, hasOffers }]
    await database.transaction((query) => bus.notify(query, changes))
    bus.publish(changes)
  }
  return { bus, database, wakes, warnings, offerCount: () => offers, tell }
}

test("tells other processes once, and this one only directly", async () => {
  const [one, other] = await Promise.all([join(), join()])
  const session: Wake = { about: "session", sessionId: "session-1" as SessionId, hasNotice: false }
  let ofTask = 0
  other.bus.subscribeTask(task, () => ofTask++)
  await one.tell([taskWake, session])
  await waitUntil(async () => other.wakes.length === 2)
  await other.tell([taskWake], true)
  await waitUntil(async () => one.offerCount() === 1)
  expect(one.wakes).toEqual([taskWake, session, foreignWake])
  expect(other.wakes).toEqual([foreignWake, session, taskWake])
  expect([ofTask, other.offerCount()]).toEqual([2, 1])
})

test("tells nobody of a transaction that was rolled back", async () => {
  const [one, other] = await Promise.all([join(), join()])
  const mistake = new Error("a mistake")
  const attempt = one.database.transaction(async (query) => {
    await one.bus.notify(query, [{ wakes: [unknown], hasOffers: true }])
    throw mistake
  })
  await expect(attempt).rejects.toBe(mistake)
  await one.tell([taskWake])
  await waitUntil(async () => other.wakes.length > 0)
  expect(other.wakes).toEqual([foreignWake])
})

test("looks at everything when it is told something that it does not understand", async () => {
  const one = await join()
  await one.database.query("SELECT pg_notify('meanwhile_changes', 'what?')")
  await waitUntil(async () => one.offerCount() > 0)
  expect(one.wakes).toEqual([unknown])
})

test.each(["SIGINT", "SIGKILL"] as const)(
  "looks at everything and hears again after %s of the server",
  async (signal) => {
    const [one, other] = await Promise.all([join(), join()])
    await server.restart(signal)
    await waitUntil(async () => one.wakes.length > 0 && other.wakes.length > 0)
    await waitUntil(async () => {
      one.wakes.length = 0
      await other.tell([taskWake])
      return one.wakes.some(({ about }) => about === "task")
    })
    expect(one.warnings).toEqual([])
  },
)

test("behind a pooler that passes nothing on it polls, says so once, and hears again when it can", async () => {
  await using proxy = await startDeafProxy(server.url)
  proxy.mode = "deaf"
  const [one, other] = await Promise.all([join(proxy.url), join()])
  for (const writer of [one, other]) {
    one.wakes.length = 0
    await writer.database.query(WRITE)
    await waitUntil(async () => one.wakes.length > 0)
  }
  proxy.mode = "open"
  await waitUntil(async () => {
    await other.tell([taskWake])
    return one.wakes.some(({ about }) => about === "task")
  })
  expect(one.warnings).toEqual([expect.stringContaining("pooler")])
})

test("notices that a connection has become silent, and looks at everything once it is not", async () => {
  await using proxy = await startDeafProxy(server.url)
  const one = await join(proxy.url)
  const before = proxy.connectionCount()
  proxy.mode = "silent"
  await waitUntil(async () => proxy.connectionCount() > before)
  one.wakes.length = 0
  proxy.mode = "open"
  await waitUntil(async () => one.wakes.length > 0)
  expect(one.warnings).toEqual([])
})

test("where it polls, it wakes nobody while nothing is written", async () => {
  await using proxy = await startDeafProxy(server.url)
  proxy.mode = "deaf"
  const one = await join(proxy.url, { deafMs: 60_000, pollMs: 5 })
  await one.database.query(WRITE)
  await waitUntil(async () => one.wakes.length > 0)
  let lookCount = 0
  await waitUntil(async () => {
    await one.database.query("SELECT 1")
    return ++lookCount > 50
  })
  expect(one.wakes.length).toBeLessThan(5)
})
