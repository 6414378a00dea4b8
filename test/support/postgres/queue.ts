import { afterAll, afterEach, beforeAll, beforeEach } from "vitest"
import type { Clock } from "../../../src/base/clock.ts"
import type { TakeRequest } from "../../../src/task/dispatcher.ts"
import { createTaskId, createWorkerId, type SessionId, type TaskId } from "../../../src/task/id.ts"
import { TASK_KINDS } from "../../../src/task/record.ts"
import { type Boss, createBoss, type QueueEntry, toTicketId } from "../../../src/engine/postgres/queue/boss.ts"
import { DEFAULT_SCHEMA } from "../../../src/engine/postgres/connection/client-settings.ts"
import type { Database } from "../../../src/engine/postgres/connection/database.ts"
import { openDatabase } from "../../../src/engine/postgres/connection/open-database.ts"
import { createDispatcher, type PostgresDispatcher } from "../../../src/engine/postgres/queue/dispatcher.ts"
import { migrate } from "../../../src/engine/postgres/schema/migrations.ts"
import { createTestDatabase, type TestDatabase } from "./server.ts"

export interface Queued {
  readonly workspace?: string
  readonly session?: SessionId
  readonly priority?: number
  readonly plugin?: string
  readonly tool?: string
}

/** The queue alone, in a database of its own that is emptied before each test. */
export interface TestQueue {
  readonly database: Database
  readonly boss: Boss
  /** Opens the dispatcher of another process. By default it is so patient that it gives no ticket back during a test. */
  open(patienceMs?: number, clock?: Clock): PostgresDispatcher
  /** Puts `count` tasks into the tasks table and the queue, as a commit does. */
  queue(count: number, queued: Queued): Promise<TaskId[]>
  /** Claims a task as a commit does; false if it had been claimed before. */
  claim(dispatcher: PostgresDispatcher, id: TaskId | undefined): Promise<boolean>
  countTickets(): Promise<number>
}

export const TICKETS = `${DEFAULT_SCHEMA}_queue.job`

const ALL_THE_TIME_MS = 60_000
const WORKER = createWorkerId()

/** One queue for all tests of a file. */
export function useTestQueue(): TestQueue {
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
    await database.query(`TRUNCATE tasks CASCADE; DELETE FROM ${TICKETS}`)
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

  return {
    get database() {
      return database
    },
    get boss() {
      return boss
    },
    open(patienceMs = ALL_THE_TIME_MS, clock) {
      const dispatcher: PostgresDispatcher = createDispatcher({
        query: database.query,
        boss,
        clock,
        patienceMs,
        async tellOthers() {
          for (const each of opened) if (each !== dispatcher) each.announce()
        },
      })
      opened.push(dispatcher)
      return dispatcher
    },
    async queue(count, queued) {
      const { workspace = "default", session, priority = 0, plugin = "shell", tool = "run" } = queued
      const ids = Array.from({ length: count }, createTaskId)
      await database.transaction(async (query) => {
        const rows = await query<{ number: number }>(INSERT, [ids, priority, workspace, session, plugin, tool])
        const tickets = rows.map(({ number }) => ({ id: toTicketId(toEntry(number)), plugin, workspace, priority }))
        await boss.insert(query, tickets)
      })
      return ids
    },
    async claim(dispatcher, id) {
      if (!id) throw new Error("there is nothing to claim")
      const end = dispatcher.onClaim(id, 1)
      const [row] = await database.transaction(async (query) => {
        const sql =
          "UPDATE tasks SET status = 'running', fence = 1 WHERE id = $1 AND fence = 0 RETURNING number, plugin"
        const rows = await query<{ number: number; plugin: string }>(sql, [id])
        await boss.remove(
          query,
          rows.map(({ number, plugin }) => ({ plugin, id: toTicketId(toEntry(number)) })),
        )
        return rows
      })
      end(row ? "claimed" : "lost")
      return row !== undefined
    },
    async countTickets() {
      return (await database.query<{ count: number }>(`SELECT count(*) AS count FROM ${TICKETS}`))[0]?.count ?? 0
    },
  }
}

const INSERT = `INSERT INTO tasks (number, id, status, run, fence, last_sequence, available_at, queued_at, ran_ms, priority,
    workspace, session, kind, plugin, tool, lifetime, notify, depth, created_at, tokens, cost_micros, resume_count, title)
  SELECT nextval('task_numbers'), id, 'queued', 1, 0, 1, now, now, 0, $2, $3, $4, 'tool', $5, $6, 'runtime', 'wake',
    0, now, 0, 0, 0, ''
  FROM unnest($1::text[]) WITH ORDINALITY AS given (id, place),
    (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS now) AS clock ORDER BY place RETURNING number`

function toEntry(number: number): QueueEntry {
  return { number, run: 1, fence: 0 }
}

function fail(message: string): never {
  throw new Error(message)
}

export function toRequest(changes: Partial<TakeRequest> = {}): TakeRequest {
  const none = { fullSessions: [], fullModels: [], fullWorkspaces: [] }
  return { worker: WORKER, limit: 100, kinds: TASK_KINDS, plugins: ["shell"], ...none, ...changes }
}

export async function take(
  dispatcher: Pick<PostgresDispatcher, "take">,
  changes: Partial<TakeRequest> = {},
): Promise<readonly TaskId[]> {
  return (await dispatcher.take(toRequest(changes))).map(({ taskId }) => taskId)
}
