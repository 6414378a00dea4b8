import pg from "pg"
import { expect, onTestFinished, test } from "vitest"
import { createTestDatabase } from "../../../../../test/support/postgres/server.ts"
import { type Built, createBulk, columnsOf, type Row, toRowSource } from "./bulk.ts"

async function keepAndRead(rows: readonly Row[]): Promise<readonly Row[]> {
  const database = await createTestDatabase({ isEmpty: true })
  const client = new pg.Client(database.url)
  onTestFinished(async () => {
    await client.end()
    await database.drop()
  })
  await client.connect()
  await client.query("CREATE TABLE kept (number integer, size double precision, text text, note text)")
  const built: Built[] = []
  createBulk(built).insert("kept", columnsOf(rows))
  for (const { text, values } of built) await client.query(text, [...values])
  return (await client.query<Row>("SELECT * FROM kept ORDER BY number")).rows
}

test("rows come back as they were, whatever is in them", async () => {
  const texts = ['"', "\\", '\\"', "{}", "a,b", "null", "NULL", "", " ", "\n\t", "’ 漢 😀", "$1", "'; --"]
  const rows = texts.map((text, number) => ({ number, size: number / 4, text, note: number % 2 === 0 ? null : "odd" }))
  expect(await keepAndRead(rows)).toEqual(rows)
})

test("one row, and several rows that are all alike, keep their number", async () => {
  const row = { number: 7, size: 0.5, text: "the same", note: null }
  expect(await keepAndRead([row])).toEqual([row])
  expect(await keepAndRead([row, row, row])).toEqual([row, row, row])
})

test("a number that is not finite is stored as null", async () => {
  const rows = [
    { number: 1, size: Number.POSITIVE_INFINITY, text: "a", note: null },
    { number: 2, size: 3, text: "a", note: null },
  ]
  expect((await keepAndRead(rows)).map(({ size }) => size)).toEqual([null, 3])
})

test("whole numbers are sent as such, so that an index on them is used", () => {
  const rows = [{ number: 1 }, { number: 2 }]
  expect(toRowSource(columnsOf(rows)).from).toBe("unnest($1::bigint[]) AS given (number)")
})
