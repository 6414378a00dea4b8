import { inspect } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { MeanwhileError } from "../../../base/error.ts"
import { expectRefusal } from "../../suite/subject.ts"
import { createTestDatabase, type TestDatabase } from "../test-server.ts"
import type { Database } from "./database.ts"
import { openDatabase } from "./open-database.ts"
import { startProxy } from "./test-proxy.ts"
import { toErrorResponse } from "./test-refusal.ts"

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

const insertThing = "INSERT INTO things (id) VALUES ($1)"

async function countThings(id: string): Promise<number> {
  const sql = "SELECT count(*) AS count FROM things WHERE id LIKE $1 || '%'"
  return (await database.query<{ count: number }>(sql, [id]))[0]?.count ?? 0
}

describe("statements", () => {
  test("numbers of every width come as numbers", async () => {
    const sql =
      "SELECT 9007199254740991::int8 AS whole, 0.5::float8 AS broken, sum(v) AS sum FROM (VALUES (1), (2)) t (v)"
    expect(await database.query(sql)).toEqual([{ whole: 9007199254740991, broken: 0.5, sum: 3 }])
  })

  test("one with a name is planned once per connection", async () => {
    await using single = toDisposable(await openDatabase({ url: place.url, poolSize: 1 }))
    for (const id of ["1", "2"]) await single.query({ name: "a name", text: "SELECT $1::text" }, [id])
    expect(await single.query("SELECT name FROM pg_prepared_statements")).toEqual([{ name: "a name" }])
  })

  test("one with a name goes on when the table it reads has changed", async () => {
    await using single = toDisposable(await openDatabase({ url: place.url, poolSize: 1 }))
    await single.query("CREATE TABLE changing (id int)")
    const all = { name: "all", text: "SELECT * FROM changing WHERE id > $1" }
    await single.query("INSERT INTO changing VALUES (1)")
    expect(await single.query(all, [0])).toEqual([{ id: 1 }])
    await database.query("ALTER TABLE changing ADD COLUMN more int")
    expect(await single.query(all, [0])).toEqual([{ id: 1, more: null }])
    await database.query("ALTER TABLE changing ADD COLUMN most int")
    expect(await single.transaction((query) => query(all, [0]))).toEqual([{ id: 1, more: null, most: null }])
  })

  test("never use more connections than allowed, and say whose they are", async () => {
    await using narrow = toDisposable(await openDatabase({ url: place.url, poolSize: 2 }))
    const sql = `SELECT pg_sleep(0.01), (SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'meanwhile') AS count`
    const before = await narrow.query<{ count: number }>(sql)
    const answers = await Promise.all(Array.from({ length: 20 }, () => narrow.query<{ count: number }>(sql)))
    const most = Math.max(...answers.map(([answer]) => answer?.count ?? 0))
    expect(most - (before[0]?.count ?? 0)).toBeLessThanOrEqual(1)
  })

  test("one that takes too long is ended", async () => {
    await using hasty = toDisposable(await openDatabase({ url: place.url, statementTimeoutMs: 50 }))
    await expectRefusal(hasty.query("SELECT pg_sleep(5)"), "store_unavailable")
    expect(await hasty.query("SELECT 1 AS one")).toEqual([{ one: 1 }])
  })
})

describe("transactions", () => {
  test("happen as a whole or not at all, and give back what the work throws", async () => {
    const refusal = new MeanwhileError("wrong_state", "No.")
    const attempt = database.transaction(async (query) => {
      await query(insertThing, ["undone"])
      throw refusal
    })
    await expect(attempt).rejects.toBe(refusal)
    expect(await database.transaction((query) => query("SELECT 1 AS one"))).toEqual([{ one: 1 }])
    expect(await countThings("undone")).toBe(0)
  })

  test("statements may be sent without waiting for the one before", async () => {
    const rows = await database.transaction(async (query) => {
      const [, found] = await Promise.all([
        query(insertThing, ["together"]),
        query<{ id: string }>("SELECT id FROM things WHERE id = 'together'"),
      ])
      return found
    })
    expect(rows).toEqual([{ id: "together" }])
  })

  test("an error that the work hides still takes it back", async () => {
    const attempt = database.transaction(async (query) => {
      await query(insertThing, ["hidden"])
      await query("SELECT 1/0").catch(() => {})
    })
    await expectRefusal(attempt, "store_unavailable")
    expect(await countThings("hidden")).toBe(0)
  })

  test("whichever statement the work gives up for, it is refused for the one that failed", async () => {
    const attempt = database.transaction((query) => {
      query("SELECT 1/0").catch(() => {})
      return query("SELECT 1")
    })
    await expect(attempt).rejects.toMatchObject({ code: "invalid_input", message: /division by zero/ })
  })

  test("what the work has sent and not waited for is part of it", async () => {
    await database.transaction(async (query) => void query(insertThing, ["unheard"]))
    expect(await countThings("unheard")).toBe(1)
    const attempt = database.transaction(async (query) => {
      void query(insertThing, ["unheard, too"])
      void query("SELECT 1/0")
      void query(insertThing, ["behind it"])
    })
    await expect(attempt).rejects.toMatchObject({ code: "invalid_input", message: /division by zero/ })
    expect(await countThings("unheard, too")).toBe(0)
    expect(await countThings("behind it")).toBe(0)
  })

  test("are repeated when somebody else wrote the same key first", async () => {
    let attempts = 0
    const find = "SELECT id FROM things WHERE id = 'raced'"
    const isOwn = await database.transaction(async (query) => {
      attempts += 1
      if ((await query(find)).length > 0) return false
      await database.query(insertThing, ["raced"])
      await query(insertThing, ["raced"])
      return true
    })
    expect([isOwn, attempts]).toEqual([false, 2])
  })

  test("are repeated after a deadlock", async () => {
    await database.query("INSERT INTO things (id) VALUES ('lock/1'), ('lock/2')")
    const meet = Promise.withResolvers<void>()
    let waiting = 0
    const add = "UPDATE things SET amount = amount + 1 WHERE id = $1"
    const lockBoth = (first: string, second: string): Promise<void> =>
      database.transaction(async (query) => {
        await query(add, [first])
        if (++waiting === 2) meet.resolve()
        await meet.promise
        await query(add, [second])
      })
    await Promise.all([lockBoth("lock/1", "lock/2"), lockBoth("lock/2", "lock/1")])
    const rows = await database.query("SELECT amount FROM things WHERE id LIKE 'lock/%'")
    expect(rows).toEqual([{ amount: 2 }, { amount: 2 }])
  })

  test("a key that is simply taken is refused in the end", async () => {
    await database.query(insertThing, ["taken"])
    await expectRefusal(
      database.transaction((query) => query(insertThing, ["taken"])),
      "invalid_input",
    )
  })
})

describe("a connection that is lost while it commits", () => {
  for (const { moment, wish } of [
    { moment: "before the server has read it", wish: "cut" },
    { moment: "before the answer is back", wish: "swallow" },
  ] as const)
    test(`${moment}: the transaction happens once`, async () => {
      await using proxy = await startProxy(place.url)
      await using cut = toDisposable(await openDatabase({ url: proxy.url }))
      for (const round of [1, 2, 3]) {
        let accidents = 1
        proxy.onRequest = (data) => (data.includes("COMMIT") && accidents-- > 0 ? wish : "pass")
        const id = `${wish}/${round}/`
        const result = await cut.transaction(async (query) => {
          await query("INSERT INTO things (id) VALUES ($1 || gen_random_uuid())", [id])
          void query("INSERT INTO things (id) VALUES ($1 || gen_random_uuid())", [`unheard/${id}`])
          return round
        })
        expect(result).toBe(round)
        expect(await countThings(id)).toBe(1)
        expect(await countThings(`unheard/${id}`)).toBe(1)
      }
    })

  test("and reaches the server after it was tried again: the transaction happens once", async () => {
    await using proxy = await startProxy(place.url)
    await using cut = toDisposable(await openDatabase({ url: proxy.url }))
    for (const round of [1, 2, 3]) {
      let accidents = 1
      proxy.onRequest = (data) => (data.includes("COMMIT") && accidents-- > 0 ? "delay" : "pass")
      const id = `delay/${round}/`
      await cut.transaction((query) => query("INSERT INTO things (id) VALUES ($1 || gen_random_uuid())", [id]))
      await proxy.deliver()
      expect(await countThings(id)).toBe(1)
    }
  })

  test("every time: it is refused in the end", async () => {
    await using proxy = await startProxy(place.url)
    await using cut = toDisposable(await openDatabase({ url: proxy.url, patienceMs: 50 }))
    proxy.onRequest = (data) => (data.includes("pg_current_xact_id_if_assigned") ? "cut" : "pass")
    await expectRefusal(
      cut.transaction((query) => query(insertThing, ["never"])),
      "store_unavailable",
    )
    expect(await countThings("never")).toBe(0)
  })

  test("and cannot be made again: it says that nobody knows", async () => {
    await using proxy = await startProxy(place.url)
    await using cut = toDisposable(await openDatabase({ url: proxy.url, patienceMs: 50 }))
    let isDead = false
    proxy.onRequest = (data) => {
      isDead ||= data.includes("COMMIT")
      return isDead ? "cut" : "pass"
    }
    const attempt = cut.transaction((query) => query(insertThing, ["unknown"]))
    await expect(attempt).rejects.toMatchObject({ code: "store_unavailable", message: /not known whether/ })
  })
})

describe("a pooler that takes no settings of the session", () => {
  test("gets them with every statement and transaction", async () => {
    await using proxy = await startProxy(place.url)
    proxy.onRequest = (data) => (data.includes("search_path=") ? SETTING_REFUSED : "pass")
    await using pooled = toDisposable(await openDatabase({ url: proxy.url }))
    const setting = { name: "path", text: "SELECT current_setting('search_path') AS path, $1::int AS value" }
    expect(await pooled.query(setting, [1])).toEqual([{ path: "meanwhile", value: 1 }])
    expect(await pooled.transaction((query) => query(setting, [2]))).toEqual([{ path: "meanwhile", value: 2 }])
    await expectRefusal(pooled.query("SELECT 1/0"), "invalid_input")
    expect(await pooled.query("SELECT name FROM pg_prepared_statements")).toEqual([])
  })
})

describe("what cannot be done is refused", () => {
  const REFUSED = [
    ["SELECT * FROM nowhere", "store_unavailable"],
    ["SELECT 'x'::int", "invalid_input"],
    ["INSERT INTO things (id) VALUES (NULL)", "invalid_input"],
  ] as const
  for (const [sql, code] of REFUSED)
    test(`${sql}: ${code}`, async () => {
      await expectRefusal(
        database.transaction((query) => query(sql)),
        code,
      )
    })

  test("writing to a server that stays read-only", async () => {
    await using standby = toDisposable(await openDatabase({ url: place.url, patienceMs: 50 }))
    const write = "SET TRANSACTION READ ONLY; INSERT INTO things (id) VALUES ('x')"
    await expectRefusal(
      standby.transaction((query) => query(write)),
      "store_read_only",
    )
  })

  test("a URL that leads nowhere, or is none, is told at once and without its password", async () => {
    const { port, hostname } = new URL(place.url)
    const urls = [
      "postgres://me:hunter2@127.0.0.1:1/x",
      `postgres://postgres:hunter2@${hostname}:${port}/nowhere`,
      `postgres://nobody-there:hunter2@${hostname}:${port}/postgres`,
      `postgres://postgres:hunter2@${hostname}:${port}/postgres?sslmode=verify-full`,
      "postgres://me:hunter2@[/x",
      "postgres://me:hunter2@host/x?sslmode=verify-full&sslrootcert=/nowhere/ca.pem",
      "mysql://me:hunter2@host/x",
      "postgres://me:12?hunter2@host/x",
      `postgres://postgres:hunter2@${hostname}:${port}/postgres?sslmod=verify-full`,
    ]
    for (const url of urls) {
      const error: unknown = await openDatabase({ url, startPatienceMs: 0 }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(MeanwhileError)
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter2")
    }
    await expectRefusal(openDatabase({ url: place.url, schema: "a b" }), "invalid_input")
  })

  test("a closed store refuses, once what was under way has ended", async () => {
    const closing = await openDatabase({ url: place.url })
    const slow = closing.query("SELECT pg_sleep(0.05), 1 AS one")
    await closing.close()
    await expect(slow).resolves.toMatchObject([{ one: 1 }])
    await expectRefusal(closing.query("SELECT 1"), "closed")
    await expectRefusal(
      closing.transaction((query) => query("SELECT 1")),
      "closed",
    )
    await closing.close()
  })
})

function toDisposable(opened: Database): Database & AsyncDisposable {
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() }
}

const SETTING_REFUSED = toErrorResponse("08P01", "unsupported startup parameter in options: search_path")
