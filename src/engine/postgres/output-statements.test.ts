import { expect, onTestFinished, test } from "vitest"
import { createTask, RUNNING } from "../suite/samples.ts"
import type { Query } from "./connection/database.ts"
import { openDatabase } from "./connection/open-database.ts"
import { APPEND_OUTPUT, READ_OUTPUT } from "./outputs.ts"
import { createTestPostgres } from "../../../test/support/postgres/engine.ts"

const PIECES = 20_000
/** Pages of the table and its index: all pieces have about three hundred of them. */
const FEW_PAGES = 60

/** A run that has printed ten bytes at a time, for long. */
async function createTalker() {
  const subject = await createTestPostgres()
  onTestFinished(() => subject.dispose())
  const database = await openDatabase({ url: subject.url })
  onTestFinished(() => database.close())
  const { id, run, fence } = await createTask(subject.engine, RUNNING)
  await database.query(
    `INSERT INTO outputs (task, run, start, stop, bytes)
     SELECT number, 1, 10 * n, 10 * n + 10, convert_to('0123456789', 'UTF8')
     FROM tasks, generate_series(0, $2::integer - 1) AS n WHERE id = $1`,
    [id, PIECES],
  )
  await database.query("VACUUM ANALYZE outputs")
  return { query: database.query, id, run, fence }
}

test("the end of what was printed in many pieces is read without walking through them", async () => {
  const { query, id, run } = await createTalker()
  const values = [id, run, 10 * PIECES - 15, 10 * PIECES]
  expect(await query(READ_OUTPUT, values)).toMatchObject([{ start: 10 * PIECES - 20 }, { start: 10 * PIECES - 10 }])
  expect(await countPages(query, READ_OUTPUT.text, values)).toBeLessThan(FEW_PAGES)
})

test("output behind many pieces is written without walking through them, even when the oldest are dropped", async () => {
  const { query, id, run, fence } = await createTalker()
  const toValues = (start: number, keepFrom: number) => {
    return [[id], [run], [fence], [keepFrom], [start], [1], [10], Buffer.from("abcdefghij")]
  }
  await query(APPEND_OUTPUT, toValues(10 * PIECES, 25))
  expect(await query("SELECT min(start) AS first, count(*) AS count FROM outputs")).toEqual([
    { first: 25, count: PIECES - 1 },
  ])
  expect(await countPages(query, APPEND_OUTPUT, toValues(10 * PIECES + 10, 35))).toBeLessThan(FEW_PAGES)
})

interface Part {
  readonly "Shared Hit Blocks": number
  readonly "Shared Read Blocks": number
  readonly Plans?: readonly Part[]
}

interface Explained {
  readonly "QUERY PLAN": readonly [{ readonly Plan: Part }]
}

/** Counts the parts, too: the pages of parts that only write are not in the whole. */
async function countPages(query: Query, text: string, values: readonly unknown[]): Promise<number> {
  const [row] = await query<Explained>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
  const { Plan: whole } = row?.["QUERY PLAN"][0] ?? {}
  const parts = whole ? [whole, ...(whole.Plans ?? [])] : []
  return parts.reduce((sum, part) => sum + part["Shared Hit Blocks"] + part["Shared Read Blocks"], 0)
}
