import { afterAll, beforeAll, expect, test } from "vitest"
import { createSessionId, DEFAULT_WORKSPACE, type TaskId } from "../../../task/id.ts"
import type { Offer } from "../../../task/dispatcher.ts"
import type { Engine } from "../../../task/engine.ts"
import { QUEUED, STARTED } from "../../suite/samples.ts"
import type { Database } from "./database.ts"
import { openDatabase } from "./open-database.ts"
import { type Proxy, startProxy } from "../../../../test/support/postgres/proxy.ts"
import { createPostgresEngine } from "../engine.ts"
import { toRequest } from "../../../../test/support/postgres/queue.ts"
import { createTestDatabase, type TestDatabase } from "../../../../test/support/postgres/server.ts"
import { complete, create } from "../../../../test/support/postgres/writing.ts"

let place: TestDatabase
let proxy: Proxy
let engine: Engine
let direct: Engine
let database: Database

beforeAll(async () => {
  place = await createTestDatabase()
  proxy = await startProxy(place.url)
  engine = await createPostgresEngine({ url: proxy.url })
  direct = await createPostgresEngine({ url: place.url })
  database = await openDatabase({ url: place.url, poolSize: 1 })
})

afterAll(async () => {
  proxy.onRequest = () => "pass"
  await Promise.all([engine.close(), direct.close(), database.close()])
  await proxy[Symbol.asyncDispose]()
  await place.drop()
})

async function countTickets(): Promise<number> {
  const [row] = await database.query<{ count: number }>("SELECT count(*) FROM meanwhile_queue.job")
  return row?.count ?? 0
}

interface Stage {
  readonly words: string
  readonly wish: ReturnType<Proxy["onRequest"]>
}

/** Makes the accident happen when these words are sent for the first time. */
function meetAccident({ words, wish }: Stage) {
  let accidents = 1
  let delivered: Promise<void> | undefined
  proxy.onRequest = (data) => {
    if (data.includes(words) && accidents-- > 0) return wish
    // The work is tried again, and waits for the locks of the transaction that is still on its way.
    if (accidents < 1 && data.includes("lock_timeout")) delivered ??= proxy.deliver()
    return "pass"
  }
  return {
    async isOver() {
      await delivered
      expect(accidents).toBeLessThan(1)
    },
  }
}

/** A named statement is sent only once, but the values that are written are sent every time. */
const WRITTEN = "task.completed"

const STAGES = [
  { moment: "before it began", words: "BEGIN", wish: "cut" },
  { moment: "while it locks what it changes", words: "FOR UPDATE", wish: "swallow" },
  { moment: "with its locks, before it writes", words: WRITTEN, wish: "cut" },
  { moment: "after it has written", words: WRITTEN, wish: "swallow" },
  { moment: "before its end arrives", words: "COMMIT", wish: "cut" },
  { moment: "with its end on the way, which arrives later", words: "COMMIT", wish: "delay" },
  { moment: "after its end, whose answer is lost", words: "COMMIT", wish: "swallow" },
] as const

const eventsOf = async (id: TaskId) => (await direct.store.events(id, 0, 100)).map(({ body }) => body.type)

test.each(STAGES)("a group whose connection is lost $moment happens once, and all are answered", async (stage) => {
  const { store } = engine
  const session = createSessionId()
  const begun = Array.from({ length: 5 }, () => create({ session }))
  await store.commit([{ op: "session.create", id: session, workspace: DEFAULT_WORKSPACE, data: {} }, ...begun])
  const [ended, noted, ...others] = begun.map(({ details }) => details.id)
  if (!ended || !noted) throw new Error("There are five.")
  await store.commit([complete(ended)])
  const [lease] = await store.commit([{ op: "lease.take", key: session, holder: "one", ttlMs: 60_000, data: {} }])
  const tickets = await countTickets()
  const accident = meetAccident(stage)

  const fresh = create({ session, idempotencyKey: session }, QUEUED)
  const answers = await Promise.allSettled([
    store.commit([fresh]),
    store.commit([{ op: "task.note", run: { taskId: noted, run: 1 }, facts: [{ type: "task.promoted", afterMs: 1 }] }]),
    ...others.map((id) => store.commit([complete(id)])),
    store.commit([{ op: "lease.renew", key: session, holder: "one", fence: lease.fence }]),
    // A refused writer does not fail the others.
    store.commit([complete(ended)]),
  ])
  await accident.isOver()
  expect(answers.map(({ status }) => status)).toEqual([...answers.slice(1).map(() => "fulfilled"), "rejected"])
  expect(await eventsOf(noted)).toEqual(["task.queued", "task.started", "task.promoted"])
  for (const id of others) expect(await eventsOf(id)).toEqual(["task.queued", "task.started", "task.completed"])
  expect(await eventsOf(fresh.details.id)).toEqual(["task.queued"])
  const notices = await direct.store.notices({ session }, 100)
  expect(notices.map(({ taskId }) => taskId).toSorted()).toEqual([ended, ...others].toSorted())
  expect(await database.query("SELECT renewals FROM leases WHERE key = $1", [session])).toEqual([{ renewals: 2 }])
  expect(await countTickets()).toBe(tickets + 1)
  expect(await direct.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
})

const TAKE_STAGES = [
  { moment: "while it fetches", words: "SKIP LOCKED", wish: "cut" },
  { moment: "after it has fetched", words: "SKIP LOCKED", wish: "swallow" },
  { moment: "before its claims are written", words: "task.started", wish: "cut" },
  { moment: "after its claims are written", words: "task.started", wish: "swallow" },
  { moment: "before its end arrives", words: "COMMIT", wish: "cut" },
  { moment: "with its end on the way, which arrives later", words: "COMMIT", wish: "delay" },
  { moment: "after its end, whose answer is lost", words: "COMMIT", wish: "swallow" },
] as const

test.each(TAKE_STAGES)("a take whose connection is lost $moment claims each run once", async (stage) => {
  const tickets = await countTickets()
  const plugin = `take ${TAKE_STAGES.indexOf(stage)}`
  const queued = Array.from({ length: 5 }, () => create({ plugin }, QUEUED))
  await engine.store.commit(queued)
  const accident = meetAccident(stage)
  // Tickets whose arrival was lost are offered a moment later, when their runs are found in the table.
  let offers: readonly Offer[] = []
  await expect
    .poll(async () => (offers = await engine.dispatcher.take(toRequest({ plugins: [plugin] }))))
    .toHaveLength(5)
  const claims = offers.map(({ taskId, run }) =>
    engine.store.commit([{ op: "task.apply", run: { taskId, run }, event: STARTED }]),
  )
  const claimed = (await Promise.all(claims)).map(([task]) => task)
  await accident.isOver()
  const ids = queued.map(({ details }) => details.id)
  expect(claimed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  expect(claimed).toMatchObject(claimed.map(() => ({ status: "running", fence: 1 })))
  for (const id of ids) expect(await eventsOf(id)).toEqual(["task.queued", "task.started"])
  expect(await countTickets()).toBe(tickets)
})
