import pg from "pg"
import { afterAll, beforeAll } from "vitest"
import type { GroupDetails } from "../../../src/task/group.ts"
import { createGroupId, DEFAULT_WORKSPACE, type TaskId } from "../../../src/task/id.ts"
import type { TaskEntry } from "../../../src/task/operation.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { COMPLETED, RUNNING, sampleDetails } from "../../../src/engine/suite/samples.ts"
import type { Database } from "../../../src/engine/postgres/connection/database.ts"
import { openDatabase } from "../../../src/engine/postgres/connection/open-database.ts"
import { createGroupCommit } from "../../../src/engine/postgres/commit/group-commit.ts"
import type { TaskChange } from "../../../src/engine/postgres/queue/change-queue.ts"
import { createJudgeLease } from "../../../src/engine/postgres/read/judge-lease.ts"
import { createRunGroup, type RunGroup } from "../../../src/engine/postgres/commit/run-group.ts"
import { createStore } from "../../../src/engine/postgres/store.ts"
import { createTestDatabase, type TestDatabase } from "./server.ts"

/** The writing half of an engine, in one process. */
export interface Writing {
  runGroup(writers: Parameters<RunGroup>[0]): ReturnType<RunGroup>
  readonly database: Database
  readonly commit: TaskStore["commit"]
  readonly store: TaskStore
  /** The statements sent since the last call, each by its first words. */
  sent(): readonly string[]
  readonly changes: TaskChange[]
}

/** A connection that has locked rows and does not go on, like a suspended process. */
export interface Standing {
  /** The number of connections that wait for any lock. */
  waiting(): Promise<number>
  letGo(): Promise<void>
}

/** What is locked of the tasks: a group waits for a task before it writes, and for a notice while it writes. */
const LOCKS = {
  tasks: "SELECT FROM meanwhile.tasks WHERE id = ANY($1) FOR UPDATE",
  notices: `SELECT FROM meanwhile.notices WHERE task IN (SELECT number FROM meanwhile.tasks WHERE id = ANY($1)) FOR UPDATE`,
} as const

/** A store of its own for the tests of one file, removed after them. `open` gives it another process. */
export function useWritingStore(): {
  open(): Promise<Writing>
  hold(ids: readonly TaskId[], rows?: keyof typeof LOCKS): Promise<Standing>
} {
  let home: TestDatabase
  const databases: Database[] = []

  beforeAll(async () => {
    home = await createTestDatabase()
  })

  afterAll(async () => {
    for (const database of databases) await database.close()
    await home.drop()
  })

  return {
    async open() {
      const database = await openDatabase({ url: home.url })
      databases.push(database)
      return createWriting(database)
    },
    async hold(ids, rows = "tasks") {
      const client = new pg.Client(home.url)
      await client.connect()
      await client.query("BEGIN")
      await client.query(LOCKS[rows], [ids])
      return {
        async waiting() {
          await client.query("SELECT pg_stat_clear_snapshot()")
          const sql = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
          return (await client.query(sql)).rowCount ?? 0
        },
        letGo: () => client.end(),
      }
    },
  }
}

const LOCK_TIMEOUT_MS = 30_000
const FIRST_WORDS = /^(SELECT|WITH|INSERT INTO \w+|UPDATE \w+|DELETE FROM \w+)/

function createWriting(database: Database): Writing {
  let texts: string[] = []
  const changes: TaskChange[] = []
  const watched: Database = {
    ...database,
    transaction: (work, options) =>
      database.transaction(
        (query) =>
          work((statement, values) => {
            texts.push(typeof statement === "string" ? statement : statement.text)
            return query(statement, values)
          }),
        options,
      ),
  }
  const judgeLease = createJudgeLease()
  const runGroup = createRunGroup({
    database: watched,
    judgeLease,
    changeQueue: (_query, changed) => Promise.resolve(void changes.push(...changed)),
    notify: () => Promise.resolve(),
  })
  const commit = createGroupCommit(runGroup, () => {}).commit as TaskStore["commit"]
  return {
    runGroup: (writers) => runGroup(writers, LOCK_TIMEOUT_MS),
    database,
    commit,
    store: createStore({ database, judgeLease, commit }),
    sent() {
      const words = texts.map((text) => FIRST_WORDS.exec(text)?.[0] ?? text)
      texts = []
      return words
    },
    changes,
  }
}

export const create = (changes: Parameters<typeof sampleDetails>[0] = {}, entry: TaskEntry = RUNNING) =>
  ({ op: "task.create", details: sampleDetails(changes), entry }) as const

export const complete = (taskId: TaskId) =>
  ({ op: "task.apply", run: { taskId, run: 1, fence: 1 }, event: COMPLETED }) as const

export function sampleGroup(): GroupDetails {
  const fixed = { workspace: DEFAULT_WORKSPACE, session: null, name: "", failFast: false } as const
  return { id: createGroupId(), ...fixed, join: "all", report: "combined", merge: "append" }
}
