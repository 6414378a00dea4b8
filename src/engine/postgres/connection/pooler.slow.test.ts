import pg from "pg"
import { describe, expect, onTestFinished, test } from "vitest"
import type { Engine } from "../../../task/engine.ts"
import {
  applyEvents,
  CANCELLED,
  COMPLETED,
  createEndedTask,
  createSession,
  createTask,
  QUEUED,
  STARTED,
} from "../../suite/samples.ts"
import { waitUntil } from "../../suite/subject.ts"
import { type PoolerKind, startPooler } from "../../../../test/support/postgres/pooler.ts"
import { createPostgresEngine } from "../engine.ts"
import { take } from "../../../../test/support/postgres/queue.ts"
import { createTestDatabase } from "../../../../test/support/postgres/server.ts"

const KINDS: readonly PoolerKind[] = [
  { handsOutBy: "session", settings: "refused" },
  { handsOutBy: "session", settings: "dropped" },
  { handsOutBy: "transaction", settings: "refused" },
  { handsOutBy: "transaction", settings: "dropped" },
  { handsOutBy: "transaction", settings: "kept" },
]

describe.each(KINDS)("behind a pooler that hands out sessions by $handsOutBy, with settings $settings", (kind) => {
  async function open(): Promise<{ engines: readonly [Engine, Engine]; lines: readonly string[] }> {
    const place = await createTestDatabase()
    onTestFinished(() => place.drop())
    const pooler = await startPooler(place.url, kind)
    const lines: string[] = []
    const url = pooler.url
    const openOne = () => createPostgresEngine({ url, tell: (line) => lines.push(line) })
    const engines = [await openOne(), await openOne()] as const
    onTestFinished(async () => {
      await Promise.all(engines.map((engine) => engine.close()))
      await pooler[Symbol.asyncDispose]()
    })
    return { engines, lines }
  }

  test("tasks are created, taken, ended and cancelled, and others hear of it", async () => {
    const { engines, lines } = await open()
    const [engine, other] = engines
    const session = await createSession(engine)
    const [done, unwanted] = [await createTask(engine, QUEUED, { session }), await createTask(engine)]
    const takeAll = () => take(other.dispatcher)
    // An offer that is not claimed goes back after a moment: a second look may find nothing.
    const taken = await waitUntil(async () => {
      const ids = await takeAll()
      return ids.length === 2 && ids
    })
    expect(taken).toEqual([done.id, unwanted.id])
    await applyEvents(other, done.id, STARTED)

    let isOver = false
    onTestFinished(engine.bus.subscribeTask(done.id, (mayBeOver) => (isOver ||= mayBeOver)))
    await applyEvents(other, done.id, COMPLETED)
    await waitUntil(async () => isOver)
    expect(await engine.store.task(done.id)).toMatchObject({ status: "completed" })
    await applyEvents(engine, unwanted.id, CANCELLED)
    await waitUntil(async () => (await takeAll()).length === 0)
    expect(await other.store.task(unwanted.id)).toMatchObject({ status: "cancelled" })
    const warnings = lines.filter((line) => /as behind a pooler/.test(line))
    expect(warnings).toHaveLength(kind.handsOutBy === "session" ? 0 : engines.length)
  })

  test("many at once do not get into each other's way", async () => {
    const { engines } = await open()
    const ended = await Promise.all(
      Array.from({ length: 60 }, (_, index) => createEndedTask(engines[index % 2 ? 1 : 0])),
    )
    const found = await Promise.all(ended.map(({ id }) => engines[0].store.task(id)))
    expect(found.map((task) => task?.status)).toEqual(ended.map(() => "completed"))
  })
})

test("a store is made behind a pooler that hands out sessions by transaction", async () => {
  await using empty = await createTestDatabase({ isEmpty: true })
  await using pooler = await startPooler(empty.url, { handsOutBy: "transaction", settings: "dropped" })
  await using engine = await createPostgresEngine({ url: pooler.url })
  expect(await createEndedTask(engine)).toMatchObject({ status: "completed" })
})

test("the pooler of these tests gives each transaction to another session, and takes no names", async () => {
  await using place = await createTestDatabase()
  await using pooler = await startPooler(place.url, { handsOutBy: "transaction", settings: "kept" })
  const client = new pg.Client(pooler.url)
  await client.connect()
  await using _connected = { [Symbol.asyncDispose]: () => client.end() }
  const ask = async () => (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid
  const pids = [await ask(), await ask(), await ask()]
  expect(new Set(pids).size).toBeGreaterThan(1)
  await client.query("BEGIN")
  expect(await ask()).toBe(await ask())
  await client.query("COMMIT")
  const named = () => client.query({ name: "a name", text: "SELECT $1::int", values: [1] })
  await named()
  await expect(named()).rejects.toThrow('prepared statement "a name" does not exist')
})
