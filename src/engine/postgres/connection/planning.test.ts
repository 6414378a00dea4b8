import { expect, onTestFinished, test } from "vitest"
import { OUTPUT_EXTENTS } from "../outputs.ts"
import { createTestDatabase } from "../../../../test/support/postgres/server.ts"
import type { Statement } from "./database.ts"
import { openDatabase } from "./open-database.ts"

/** After this many executions the server keeps one plan for all values. */
const TIMES = 8

const STATEMENTS: readonly (Statement & { readonly values: string })[] = [
  { name: "by ids", text: "SELECT * FROM tasks WHERE id = ANY ($1::text[])", values: "'{one,two}'" },
  { ...OUTPUT_EXTENTS, values: "'{one,two}', '{1,1}'" },
]

test.each(STATEMENTS)('the plan that is kept of "$name" is not one for a small table', async (statement) => {
  const place = await createTestDatabase()
  const database = await openDatabase({ url: place.url, poolSize: 1 })
  onTestFinished(async () => {
    await database.close()
    await place.drop()
  })
  const values = statement.values.split(", ").map((value) => value.slice(1, -1))
  for (let time = 0; time < TIMES; time++) await database.query(statement, values)
  const plan = await database.query(`EXPLAIN EXECUTE "${statement.name}" (${statement.values})`)
  const text = JSON.stringify(plan)
  expect(text).toContain("Index Scan")
  expect(text).not.toMatch(/Seq Scan on|Hash Join|Merge Join/)
})
