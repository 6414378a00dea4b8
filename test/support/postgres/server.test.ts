import pg from "pg"
import { beforeAll, expect, test } from "vitest"
import { createTestDatabase, startTestServer, type TestDatabase } from "./server.ts"

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<unknown[]>({ text, rowMode: "array" })
    return rows.flat()
  } finally {
    await client.end()
  }
}

let one: TestDatabase

beforeAll(async () => {
  one = await createTestDatabase()
})

test("every created database is a new one, and a dropped one is gone", async () => {
  await using other = await createTestDatabase()
  await ask(one.url, "CREATE TABLE here ()")
  expect(await ask(other.url, "SELECT to_regclass('here') IS NULL, count(*)::integer FROM meanwhile.tasks")).toEqual([
    true,
    0,
  ])
  await one.drop()
  await expect(ask(one.url, "SELECT 1")).rejects.toMatchObject({ code: "3D000" })
})

test("a server that is restarted or killed keeps its data and its port", async () => {
  await using server = await startTestServer()
  await using database = await server.createDatabase()
  await ask(database.url, "CREATE TABLE kept ()")
  await server.restart()
  await server.restart("SIGKILL")
  await server.kill()
  await expect(ask(database.url, "SELECT 1")).rejects.toMatchObject({ code: "ECONNREFUSED" })
  await server.start()
  expect(await ask(database.url, "SELECT to_regclass('kept') IS NULL")).toEqual([false])
})
