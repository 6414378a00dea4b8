import { afterAll, beforeAll, expect, test } from "vitest"
import type { SessionId, WorkspaceId } from "../../../task/id.ts"
import type { SessionFilter } from "../../../task/store.ts"
import type { Database } from "../connection/database.ts"
import { openDatabase } from "../connection/open-database.ts"
import { createTestDatabase, type TestDatabase } from "../../../../test/support/postgres/server.ts"
import { toSessionQuery } from "./session-reads.ts"

let place: TestDatabase
let database: Database

const SESSIONS = 20_000

/** The eight oldest are of a user and below a session of their own. Every other one is below its neighbour. */
beforeAll(async () => {
  place = await createTestDatabase()
  database = await openDatabase({ url: place.url })
  await database.query(
    `INSERT INTO sessions (number, id, workspace, version, created_at, updated_at, message_count, data, parent, metadata)
     SELECT n, 'session-' || n, 'home', 1, n, n, 0, '{}',
       CASE WHEN n <= 8 THEN 'first' WHEN n % 2 = 0 THEN 'session-' || n - 1 END, '{}'
     FROM generate_series(1, $1::int) n`,
    [SESSIONS],
  )
  await database.query(
    `INSERT INTO session_metadata (workspace, key, value, session)
     SELECT 'home', 'app', 'all', number FROM sessions UNION ALL
     SELECT 'home', 'userId', CASE WHEN number <= 8 THEN 'anna' ELSE 'user-' || number % 200 END, number FROM sessions`,
  )
  await database.query("VACUUM ANALYZE sessions, session_metadata")
})

afterAll(async () => {
  await database.close()
  await place.drop()
})

const workspace = "home" as WorkspaceId
const FILTERS: readonly (readonly [SessionFilter, found: number])[] = [
  [{ workspace }, 11],
  [{ workspace, parent: null }, 11],
  [{ workspace, parent: "first" as SessionId }, 8],
  [{ workspace, parent: "session-2" as SessionId }, 0],
  [{ workspace: "elsewhere" as WorkspaceId, parent: "first" as SessionId }, 0],
  [{ workspace, metadata: { userId: "anna" } }, 8],
  [{ workspace, metadata: { userId: "nobody" } }, 0],
  [{ workspace, metadata: { app: "all" } }, 11],
  [{ workspace, metadata: { app: "all", userId: "anna" } }, 8],
  [{ workspace, changedBefore: 9 }, 8],
]

const FEW_PAGES = 250
const FIRST = { at: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER }

for (const [filter, found] of FILTERS)
  test(`${JSON.stringify(filter)} is found without walking through all sessions`, async () => {
    const after = filter.changedBefore === undefined ? FIRST : { at: filter.changedBefore, number: 0 }
    const { text, values } = toSessionQuery(filter, after, 11)
    expect(await database.query(text, values)).toHaveLength(found)
    const [row] = await database.query<Explained>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
    const plan = row?.["QUERY PLAN"][0].Plan
    expect((plan?.["Shared Hit Blocks"] ?? Number.NaN) + (plan?.["Shared Read Blocks"] ?? 0)).toBeLessThan(FEW_PAGES)
  })

interface Explained {
  readonly "QUERY PLAN": readonly [{ readonly Plan: Readonly<Record<string, number>> }]
}
