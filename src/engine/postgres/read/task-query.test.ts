import { afterAll, beforeAll, expect, test } from "vitest"
import { LIVE_STATUSES, TERMINAL_STATUSES } from "../../../task/lifecycle.ts"
import type { GroupId, SessionId, TaskId, WorkerId, WorkspaceId } from "../../../task/id.ts"
import { WORK_KINDS } from "../../../task/record.ts"
import type { TaskFilter } from "../../../task/store.ts"
import type { Database } from "../connection/database.ts"
import { openDatabase } from "../connection/open-database.ts"
import { createTestDatabase, type TestDatabase } from "../../../../test/support/postgres/server.ts"
import { toCountQuery, toTaskQuery } from "./task-query.ts"

let place: TestDatabase
let database: Database

const FINISHED = 20_000

/**
 * The tasks that are asked for below are the oldest, or do not exist: a walk from the newest on would go through
 * everything.
 */
beforeAll(async () => {
  place = await createTestDatabase()
  database = await openDatabase({ url: place.url })
  await database.query(
    `INSERT INTO tasks (number, id, status, run, fence, last_sequence, queued_at, started_at, ended_at, ran_ms, used_at,
       priority, workspace, session, kind, plugin, tool, parent_task, batch, group_id, lifetime, notify, depth, created_at,
       tokens, cost_micros, resume_count, title)
     SELECT n, 'task-' || n, CASE WHEN n < 9 THEN 'failed' ELSE 'completed' END, 1, 1, 3, n, n, n, 0, n + 1000000, 0,
       'default', CASE WHEN n < 9 THEN 'first' ELSE 'later' END, CASE WHEN n < 9 THEN 'agent' ELSE 'tool' END, 'shell',
       'run_command', CASE WHEN n < 9 THEN 'first' ELSE 'later' END, CASE WHEN n < 9 THEN 'first' ELSE 'later' END,
       CASE WHEN n < 9 THEN 'first' ELSE 'later' END, 'session', 'wake', 0, n, 0, 0, 0, 'a task'
     FROM generate_series(1, $1::int) n`,
    [FINISHED],
  )
  await database.query("VACUUM ANALYZE tasks")
})

afterAll(async () => {
  await database.close()
  await place.drop()
})

const workspace = "default" as WorkspaceId
const session = "first" as SessionId
const FILTERS: readonly (readonly [TaskFilter, found: number])[] = [
  [{}, 11],
  [{ workspace }, 11],
  [{ workspace: "nowhere" as WorkspaceId }, 0],
  [{ workspace, statuses: ["failed"] }, 8],
  [{ workspace, statuses: ["failed", "timed_out"], kinds: ["agent", "turn"] }, 8],
  [{ workspace, statuses: LIVE_STATUSES }, 0],
  [{ workspace, kinds: ["turn"] }, 0],
  [{ statuses: ["failed", "timed_out"] }, 8],
  [{ statuses: LIVE_STATUSES }, 0],
  [{ statuses: ["running", "stopping"] }, 0],
  [{ workspace, session }, 8],
  [{ workspace, session: "later" as SessionId, statuses: LIVE_STATUSES, kinds: ["tool", "agent"] }, 0],
  [{ workspace, session: "later" as SessionId, endedAfter: FINISHED - 8, kinds: WORK_KINDS }, 8],
  [
    { workspace, session: "later" as SessionId, endedAfter: FINISHED, kinds: WORK_KINDS, statuses: TERMINAL_STATUSES },
    0,
  ],
  [{ parentTask: "first" as TaskId }, 8],
  [{ group: "first" as GroupId, statuses: ["failed"] }, 8],
  [{ batch: "first" }, 8],
  [{ worker: "nobody" as WorkerId }, 0],
  [{ inputHeldBy: "nobody" as WorkerId }, 0],
  [{ workspace, idempotencyKey: "none" }, 0],
  [{ askedBy: { taskId: "none" as TaskId, run: 1, key: "none" } }, 0],
  [{ consumedBefore: 1_000_000 }, 0],
  [{ consumedBefore: 1_000_009, isStripped: false, statuses: ["failed", "completed"] }, 8],
  [{ consumedBefore: 2_000_000, session: null }, 0],
]

/** Pages of the table and its indexes: all finished tasks have a thousand of them. */
const FEW_PAGES = 250

for (const [filter, found] of FILTERS)
  test(`${JSON.stringify(filter)} is found without walking through finished tasks`, async () => {
    const { text, values } = toTaskQuery(filter, undefined, 11)
    expect(await database.query(text, values)).toHaveLength(found)
    expect(await countPages(text, values)).toBeLessThan(FEW_PAGES)
    if (found > 8 || filter.consumedBefore !== undefined) return
    const count = toCountQuery(filter)
    expect(await database.query(count.text, count.values)).toEqual([{ count: found }])
    expect(await countPages(count.text, count.values)).toBeLessThan(FEW_PAGES)
  })

interface Explained {
  readonly "QUERY PLAN": readonly [{ readonly Plan: Readonly<Record<string, number>> }]
}

async function countPages(text: string, values: readonly unknown[]): Promise<number> {
  const [row] = await database.query<Explained>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
  const plan = row?.["QUERY PLAN"][0].Plan
  return (plan?.["Shared Hit Blocks"] ?? Number.NaN) + (plan?.["Shared Read Blocks"] ?? Number.NaN)
}
