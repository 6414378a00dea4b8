import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import type { TakeRequest } from "../../task/dispatcher.ts"
import { createTaskId, createWorkerId, type SessionId, type TaskId } from "../../task/id.ts"
import { TASK_KINDS } from "../../task/record.ts"
import { waitUntil } from "../suite/subject.ts"
import { type Boss, createBoss } from "./boss.ts"
import type { Database } from "./connection/database.ts"
import { DEFAULT_SCHEMA } from "./connection/client-settings.ts"
import { openDatabase } from "./connection/open-database.ts"
import { createDispatcher, type PostgresDispatcher } from "./dispatcher.ts"
import { migrate } from "./migrations.ts"
import { type QueueEntry, toTicketId } from "./queue/ticket-id.ts"
import { createTestDatabase, type TestDatabase } from "./test-server.ts"

const WORKER = createWorkerId()
const HASTY_MS = 50
const TICKETS = `${DEFAULT_SCHEMA}_queue.job`

let place: TestDatabase
let database: Database
let boss: Boss
let opened: PostgresDispatcher[] = []

beforeAll(async () => {
  place = await createTestDatabase()
  database = await openDatabase({ url: place.url })
  await migrate(database, DEFAULT_SCHEMA)
  boss = await createBoss(database, DEFAULT_SCHEMA, fail)
})

beforeEach(async () => {
  await database.query(`TRUNCATE tasks; DELETE FROM ${TICKETS}`)
})

afterEach(async () => {
  for (const dispatcher of opened) await dispatcher.close()
  opened = []
})

afterAll(async () => {
  await boss.close()
  await database.close()
  await place.drop()
})

describe("custody", () => {
  test("what one has fetched is not handed to another, until it is given back", async () => {
    const [one, other] = [open(), open()]
    const ids = await queue(5, {})
    expect(await take(one, { limit: 3 })).toEqual(ids.slice(0, 3))
    expect(await take(other)).toEqual(ids.slice(3))
    await one.close()
    expect(await take(other)).toEqual(ids)
  })

  test("workers that drain one queue do not run after the same tasks", async () => {
    const ids = await queue(300, {})
    const claimed: TaskId[] = []
    async function work(dispatcher: PostgresDispatcher): Promise<void> {
      for (;;) {
        const offers = await take(dispatcher, { limit: 10 })
        if (offers.length === 0) return
        for (const id of offers)
          if (await claim(dispatcher, id)) claimed.push(id)
          else missed++
      }
    }
    let missed = 0
    await Promise.all([open(), open(), open()].map(work))
    expect(claimed.toSorted()).toEqual(ids.toSorted())
    expect(missed).toBe(0)
  })

  test("a claimed run leaves custody and its ticket goes", async () => {
    const dispatcher = open()
    const [first, second] = await queue(2, {})
    await take(dispatcher)
    await claim(dispatcher, first)
    expect(await take(dispatcher)).toEqual([second])
    await waitUntil(async () => (await countTickets()) === 1)
  })

  test("a run that is being claimed is not offered until it is clear that it was not", async () => {
    const dispatcher = open()
    const [id] = await queue(1, {})
    expect(await take(dispatcher)).toEqual([id])
    const end = dispatcher.onClaim(id as TaskId, 1)
    expect(await take(dispatcher)).toEqual([])
    end("failed")
    expect(await take(dispatcher)).toEqual([id])
  })

  test("what left the queue elsewhere is neither offered nor kept", async () => {
    const dispatcher = open()
    const [first, second] = await queue(2, {})
    expect(await take(dispatcher)).toHaveLength(2)
    await database.query("UPDATE tasks SET status = 'cancelled' WHERE id = $1", [first])
    expect(await take(dispatcher)).toEqual([second])
    await waitUntil(async () => (await countTickets()) === 1)
  })

  test("hundreds of tickets without a run in the queue do not hide one that has", async () => {
    const dispatcher = open()
    await queue(700, {})
    await database.query("UPDATE tasks SET status = 'cancelled'")
    const [id] = await queue(1, {})
    expect(await take(dispatcher, { limit: 1 })).toEqual([id])
    await waitUntil(async () => (await countTickets()) === 1)
  })

  test("something more urgent comes before what is held", async () => {
    const dispatcher = open()
    const [first] = await queue(3, {})
    expect(await take(dispatcher, { limit: 1 })).toEqual([first])
    const [urgent] = await queue(1, { priority: 1 })
    expect(await take(dispatcher, { limit: 1 })).toEqual([urgent])
  })

  test("what does not fit here is soon found by those whom it fits", async () => {
    const [one, other] = [open(HASTY_MS), open(HASTY_MS)]
    const session = "s1" as SessionId
    const [id] = await queue(1, { session })
    expect(await take(one, { fullSessions: [session] })).toEqual([])
    await waitUntil(async () => (await take(other))[0] === id)
  })

  test("work behind hundreds of tasks of a full session is found", async () => {
    const dispatcher = open()
    const session = "s1" as SessionId
    await queue(1_000, { session })
    const [id] = await queue(1, {})
    expect(await take(dispatcher, { limit: 4, fullSessions: [session] })).toEqual([id])
    expect(await take(dispatcher, { limit: 4, fullSessions: [session] })).toEqual([id])
  })
})

describe("lost tickets", () => {
  test("a run whose ticket is gone is offered all the same", async () => {
    const dispatcher = open(HASTY_MS)
    const [id] = await queue(1, {})
    await database.query(`DELETE FROM ${TICKETS}`)
    expect(await take(dispatcher)).toEqual([])
    await waitUntil(async () => (await take(dispatcher))[0] === id)
  })

  test("a listener is told when it is time to look for it", async () => {
    const dispatcher = open(HASTY_MS)
    await queue(1, {})
    await database.query(`DELETE FROM ${TICKETS}`)
    expect(await take(dispatcher)).toEqual([])
    const told = Promise.withResolvers<void>()
    dispatcher.onOffer(told.resolve)
    await told.promise
    expect(await take(dispatcher)).toHaveLength(1)
  })

  test("what a dead process holds is offered to others, and its ticket goes with the claim", async () => {
    const [id] = await queue(1, {})
    await boss.fetch("shell", { limit: 1 })
    const dispatcher = open(HASTY_MS)
    await waitUntil(async () => (await take(dispatcher))[0] === id)
    await claim(dispatcher, id)
    await waitUntil(async () => (await countTickets()) === 0)
  })

  test("what a dead process holds goes back into the queue when somebody looks after it", async () => {
    await queue(1, {})
    const [held] = await boss.fetch("shell", { limit: 1 })
    await boss.supervise()
    expect(await boss.fetch("shell", { limit: 1 })).toEqual([])
    await database.query(`UPDATE ${TICKETS} SET heartbeat_on = now() - interval '11 s'`)
    await database.query(`UPDATE ${DEFAULT_SCHEMA}_queue.queue SET monitor_claim_on = NULL, monitor_on = NULL`)
    await boss.supervise()
    expect(await boss.fetch("shell", { limit: 1 })).toMatchObject([{ id: held?.id }])
  })

  test("an inserted ticket stays there for years", async () => {
    await queue(1, {})
    const [row] = await database.query<{ years: number }>(
      `SELECT extract(year FROM age(keep_until, start_after)) AS years FROM ${TICKETS}`,
    )
    expect(row?.years).toBeGreaterThan(60)
  })
})

describe("fairness", () => {
  test("a workspace with 10,000 queued tasks does not starve another's one", { timeout: 60_000 }, async () => {
    const dispatcher = open()
    await queue(10_000, { workspace: "crowd" })
    const [single] = await queue(1, { workspace: "single" })
    let claimed = 0
    for (;;) {
      const ids = await take(dispatcher, { limit: 10 })
      if (single && ids.includes(single)) break
      for (const id of ids) await claim(dispatcher, id)
      claimed += ids.length
      if (claimed > 1_000) break
    }
    expect(claimed).toBeLessThan(100)
  })

  test("what is urgent is not held up by fairness", async () => {
    const dispatcher = open()
    const crowd = await queue(50, { workspace: "crowd" })
    for (const id of await take(dispatcher, { limit: 40 })) await claim(dispatcher, id)
    const [single] = await queue(1, { workspace: "single" })
    const [urgent] = await queue(1, { workspace: "crowd", priority: 1 })
    expect(await take(dispatcher, { limit: 1 })).toEqual([urgent])
    expect(await take(dispatcher, { limit: 3 })).toEqual([urgent, single, crowd[40]])
  })
})

/** Those that have all the time in the world give nothing back while a test goes on. */
function open(patienceMs = 60_000): PostgresDispatcher {
  const dispatcher = createDispatcher(database.query, boss, undefined, patienceMs)
  opened.push(dispatcher)
  return dispatcher
}

function fail(message: string): never {
  throw new Error(message)
}

interface Queued {
  readonly workspace?: string
  readonly session?: SessionId
  readonly priority?: number
}

/** Puts so many into the tasks table and the queue, as a commit does. */
async function queue(count: number, { workspace = "default", session, priority = 0 }: Queued): Promise<TaskId[]> {
  const ids = Array.from({ length: count }, createTaskId)
  await database.transaction(async (query) => {
    const rows = await query<{ number: number }>(
      `INSERT INTO tasks (number, id, status, run, fence, last_sequence, available_at, queued_at, ran_ms, priority,
         workspace, session, kind, plugin, tool, lifetime, notify, depth, created_at, tokens, cost_micros, resume_count, title)
       SELECT nextval('task_numbers'), id, 'queued', 1, 0, 1, now, now, 0, $2, $3, $4, 'tool', 'shell', 'run', 'runtime', 'wake',
         0, now, 0, 0, 0, ''
       FROM unnest($1::text[]) WITH ORDINALITY AS given (id, place),
         (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS now) AS clock ORDER BY place RETURNING number`,
      [ids, priority, workspace, session],
    )
    const tickets = rows.map(({ number }) => ({
      id: toTicketId(toEntry(number)),
      plugin: "shell",
      workspace,
      priority,
    }))
    await boss.insert(query, tickets)
  })
  return ids
}

function toEntry(number: number): QueueEntry {
  return { number, run: 1, fence: 0 }
}

/** As a commit does. */
async function claim(dispatcher: PostgresDispatcher, id: TaskId | undefined): Promise<boolean> {
  if (!id) throw new Error("there is nothing to claim")
  const end = dispatcher.onClaim(id, 1)
  const [row] = await database.transaction(async (query) => {
    const sql = "UPDATE tasks SET status = 'running', fence = 1 WHERE id = $1 AND fence = 0 RETURNING number"
    const rows = await query<{ number: number }>(sql, [id])
    await boss.remove(
      query,
      rows.map(({ number }) => ({ plugin: "shell", id: toTicketId(toEntry(number)) })),
    )
    return rows
  })
  end(row ? "claimed" : "lost")
  return row !== undefined
}

async function countTickets(): Promise<number> {
  return (await database.query<{ count: number }>(`SELECT count(*) AS count FROM ${TICKETS}`))[0]?.count ?? 0
}

async function take(dispatcher: PostgresDispatcher, changes: Partial<TakeRequest> = {}): Promise<readonly TaskId[]> {
  const none = { fullSessions: [], fullModels: [], fullWorkspaces: [] }
  const request = { worker: WORKER, limit: 100, kinds: TASK_KINDS, plugins: ["shell"], ...none, ...changes }
  return (await dispatcher.take(request)).map(({ taskId }) => taskId)
}
