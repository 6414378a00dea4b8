import { inspect } from "node:util"
import { describe, expect, test } from "vitest"
import { MeanwhileError } from "../../../base/error.ts"
import { expectRefusal } from "../../suite/subject.ts"
import { openDatabase } from "./open-database.ts"
import { openDisposable } from "../../../../test/support/postgres/disposable.ts"
import { startProxy } from "../../../../test/support/postgres/proxy.ts"
import { toErrorResponse } from "../../../../test/support/postgres/refusal.ts"
import { useThings } from "../../../../test/support/postgres/things.ts"

const things = useThings()

describe("statements", () => {
  test("numbers of every width come as numbers", async () => {
    const sql =
      "SELECT 9007199254740991::int8 AS whole, 0.5::float8 AS broken, sum(v) AS sum FROM (VALUES (1), (2)) t (v)"
    expect(await things.database.query(sql)).toEqual([{ whole: 9007199254740991, broken: 0.5, sum: 3 }])
  })

  test("one with a name is planned once per connection", async () => {
    await using single = await openDisposable({ url: things.url, poolSize: 1 })
    for (const id of ["1", "2"]) await single.query({ name: "a name", text: "SELECT $1::text" }, [id])
    expect(await single.query("SELECT name FROM pg_prepared_statements")).toEqual([{ name: "a name" }])
  })

  test("one with a name goes on when the table it reads has changed", async () => {
    await using single = await openDisposable({ url: things.url, poolSize: 1 })
    await single.query("CREATE TABLE changing (id int)")
    const all = { name: "all", text: "SELECT * FROM changing WHERE id > $1" }
    await single.query("INSERT INTO changing VALUES (1)")
    expect(await single.query(all, [0])).toEqual([{ id: 1 }])
    await things.database.query("ALTER TABLE changing ADD COLUMN more int")
    expect(await single.query(all, [0])).toEqual([{ id: 1, more: null }])
    await things.database.query("ALTER TABLE changing ADD COLUMN most int")
    expect(await single.transaction((query) => query(all, [0]))).toEqual([{ id: 1, more: null, most: null }])
  })

  test("never use more connections than allowed, and say whose they are", async () => {
    await using narrow = await openDisposable({ url: things.url, poolSize: 2 })
    const sql = `SELECT pg_sleep(0.01), (SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'meanwhile') AS count`
    const before = await narrow.query<{ count: number }>(sql)
    const answers = await Promise.all(Array.from({ length: 20 }, () => narrow.query<{ count: number }>(sql)))
    const most = Math.max(...answers.map(([answer]) => answer?.count ?? 0))
    expect(most - (before[0]?.count ?? 0)).toBeLessThanOrEqual(1)
  })

  test("one that takes too long is ended", async () => {
    await using hasty = await openDisposable({ url: things.url, statementTimeoutMs: 50 })
    await expectRefusal(hasty.query("SELECT pg_sleep(5)"), "store_unavailable")
    expect(await hasty.query("SELECT 1 AS one")).toEqual([{ one: 1 }])
  })
})

describe("a pooler that takes no settings of the session", () => {
  test("gets them with every statement and transaction", async () => {
    await using proxy = await startProxy(things.url)
    proxy.onRequest = (data) => (data.includes("search_path=") ? SETTING_REFUSED : "pass")
    await using pooled = await openDisposable({ url: proxy.url })
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
        things.database.transaction((query) => query(sql)),
        code,
      )
    })

  test("writing to a server that stays read-only", async () => {
    await using standby = await openDisposable({ url: things.url, patienceMs: 50 })
    const write = "SET TRANSACTION READ ONLY; INSERT INTO things (id) VALUES ('x')"
    await expectRefusal(
      standby.transaction((query) => query(write)),
      "store_read_only",
    )
  })

  test("a URL that leads nowhere, or is none, is refused at once and without its password", async () => {
    const { port, hostname } = new URL(things.url)
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
    await expectRefusal(openDatabase({ url: things.url, schema: "a b" }), "invalid_input")
  })

  test("a closed store refuses statements, once those under way have ended", async () => {
    const closing = await openDatabase({ url: things.url })
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

const SETTING_REFUSED = toErrorResponse("08P01", "unsupported startup parameter in options: search_path")
