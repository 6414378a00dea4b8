import { expect, test } from "vitest"
import { toLockingFetch } from "./locking-fetch.ts"
import type { Query } from "../connection/database.ts"
import { TICKETS, useTestQueue } from "../../../../test/support/postgres/queue.ts"

const subject = useTestQueue()

const PLUGIN = "shell"
const lock = (query: Query, limit = 10) => subject.boss.lock(PLUGIN, { query, limit })
const fetchIds = async (limit = 10) =>
  (await subject.boss.fetch(PLUGIN, { query: subject.database.query, limit })).map(({ id }) => id)

test("tickets that a transaction has locked are nobody else's until it ends, and then everybody's", async () => {
  await subject.queue(3, {})
  const locked = await subject.database.transaction(async (query) => {
    const tickets = await lock(query, 2)
    expect(await fetchIds()).toHaveLength(1)
    return tickets
  })
  expect(await fetchIds()).toEqual(locked.map(({ id }) => id))
})

test("they are chosen as those that are fetched: the most urgent first, without workspaces that stand back", async () => {
  await subject.queue(1, { priority: 1 })
  await subject.queue(1, { priority: 3, workspace: "other" })
  await subject.queue(1, { priority: 2 })
  const { boss, database } = subject
  const choices = { limit: 2, without: ["other"], above: 0 }
  const locked = await database.transaction((query) => boss.lock(PLUGIN, { ...choices, query }))
  const fetched = await boss.fetch(PLUGIN, { ...choices, query: database.query })
  expect(locked).toHaveLength(2)
  expect(locked.map(({ id }) => id).toSorted()).toEqual(fetched.map(({ id }) => id).toSorted())
})

/** After so many the server keeps one plan for whatever values come. */
const TIMES = 8

test("the plan that is kept of it is none for a queue that was empty", async () => {
  const { database } = subject
  await database.query(`ANALYZE ${TICKETS}`)
  const plan = await database.transaction(async (query) => {
    for (let time = 0; time < TIMES; time++) await lock(query)
    const [statement] = await query<{ name: string }>(
      "SELECT name FROM pg_prepared_statements WHERE statement LIKE '%SKIP LOCKED%'",
    )
    return query(`EXPLAIN EXECUTE "${statement?.name}" (10)`)
  })
  const text = JSON.stringify(plan)
  expect(text).toContain("Index Scan using job_common_i11")
  expect(text).not.toMatch(/Sort|Seq Scan/)
})

test("a pg-boss that fetches in another way is refused", () => {
  expect(() => toLockingFetch("SELECT 1")).toThrow("Install the version of pg-boss that Meanwhile asks for.")
})
