import { afterAll, beforeAll } from "vitest"
import { createTestDatabase, type TestDatabase } from "./server.ts"
import type { Database } from "../../../src/engine/postgres/connection/database.ts"
import { openDatabase } from "../../../src/engine/postgres/connection/open-database.ts"

export const insertThing = "INSERT INTO things (id) VALUES ($1)"

/** A table `things` on a server, for the tests of one file. */
export interface Things {
  readonly url: string
  readonly database: Database
  /** The number of things whose ids begin with `id`. */
  count(id: string): Promise<number>
}

export function useThings(): Things {
  let place: TestDatabase
  let database: Database

  beforeAll(async () => {
    place = await createTestDatabase()
    database = await openDatabase({ url: place.url })
    await database.query("CREATE TABLE things (id text PRIMARY KEY, amount bigint NOT NULL DEFAULT 0)")
  })

  afterAll(async () => {
    await database.close()
    await place.drop()
  })

  return {
    get url() {
      return place.url
    },
    get database() {
      return database
    },
    async count(id) {
      const sql = "SELECT count(*) AS count FROM things WHERE id LIKE $1 || '%'"
      return (await database.query<{ count: number }>(sql, [id]))[0]?.count ?? 0
    },
  }
}
