import { describe, expect, test } from "vitest"
import { MeanwhileError } from "../../../base/error.ts"
import { expectRefusal } from "../../suite/subject.ts"
import { isHeldUp } from "./store-error.ts"
import { insertThing, useThings } from "../../../../test/support/postgres/things.ts"

const things = useThings()

describe("transactions", () => {
  test("happen as a whole or not at all, and pass on what the work throws", async () => {
    const refusal = new MeanwhileError("wrong_state", "No.")
    const attempt = things.database.transaction(async (query) => {
      await query(insertThing, ["undone"])
      throw refusal
    })
    await expect(attempt).rejects.toBe(refusal)
    expect(await things.database.transaction((query) => query("SELECT 1 AS one"))).toEqual([{ one: 1 }])
    expect(await things.count("undone")).toBe(0)
  })

  test("statements may be sent without waiting for the one before", async () => {
    const rows = await things.database.transaction(async (query) => {
      const [, found] = await Promise.all([
        query(insertThing, ["together"]),
        query<{ id: string }>("SELECT id FROM things WHERE id = 'together'"),
      ])
      return found
    })
    expect(rows).toEqual([{ id: "together" }])
  })

  test("an error that the work hides still rolls the transaction back", async () => {
    const attempt = things.database.transaction(async (query) => {
      await query(insertThing, ["hidden"])
      await query("SELECT 1/0").catch(() => {})
    })
    await expect(attempt).rejects.toMatchObject({ code: "invalid_input", message: /division by zero/ })
    expect(await things.count("hidden")).toBe(0)
  })

  test.each([
    ["58030", "store_unavailable"],
    ["22003", "invalid_input"],
    ["55P03", "store_unavailable"],
  ])("a failure %s that is answered before the COMMIT is sent is the one they are refused for", async (state, code) => {
    const attempt = things.database.transaction(async (query) => {
      const failing = query(`DO $$ BEGIN RAISE 'no' USING ERRCODE = '${state}'; END $$`)
      const behind = query("SELECT 1")
      await Promise.allSettled([failing, behind])
    })
    const error: unknown = await attempt.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, cause: { code: state } })
    expect(isHeldUp(error)).toBe(state === "55P03")
  })

  test("a transaction is refused for the statement that failed, whichever one the work gave up for", async () => {
    const attempt = things.database.transaction((query) => {
      query("SELECT 1/0").catch(() => {})
      return query("SELECT 1")
    })
    await expect(attempt).rejects.toMatchObject({ code: "invalid_input", message: /division by zero/ })
  })

  test("statements that the work has sent and not waited for are part of it", async () => {
    await things.database.transaction(async (query) => void query(insertThing, ["unheard"]))
    expect(await things.count("unheard")).toBe(1)
    const attempt = things.database.transaction(async (query) => {
      void query(insertThing, ["unheard, too"])
      void query("SELECT 1/0")
      void query(insertThing, ["behind it"])
    })
    await expect(attempt).rejects.toMatchObject({ code: "invalid_input", message: /division by zero/ })
    expect(await things.count("unheard, too")).toBe(0)
    expect(await things.count("behind it")).toBe(0)
  })

  test.each([false, true])(
    "a value that cannot be sent rolls all of it back (heard of others before: %s)",
    async (isHeard) => {
      const unsendable = {
        toPostgres() {
          throw new TypeError("Not this.")
        },
      }
      const attempt = things.database.transaction(async (query) => {
        if (isHeard) await query("SELECT 1")
        query(insertThing, ["before it"]).catch(() => {})
        query(insertThing, [unsendable]).catch(() => {})
        query(insertThing, ["before it, too"]).catch(() => {})
      })
      await expectRefusal(attempt, "invalid_input")
      expect(await things.count("before it")).toBe(0)
      await things.database.transaction((query) => query(insertThing, [`after it, ${isHeard}`]))
      expect(await things.count(`after it, ${isHeard}`)).toBe(1)
    },
  )

  test("are repeated when somebody else wrote the same key first", async () => {
    let attempts = 0
    const find = "SELECT id FROM things WHERE id = 'raced'"
    const isOwn = await things.database.transaction(async (query) => {
      attempts += 1
      if ((await query(find)).length > 0) return false
      await things.database.query(insertThing, ["raced"])
      await query(insertThing, ["raced"])
      return true
    })
    expect([isOwn, attempts]).toEqual([false, 2])
  })

  test("are repeated after a deadlock", async () => {
    await things.database.query("INSERT INTO things (id) VALUES ('lock/1'), ('lock/2')")
    const meet = Promise.withResolvers<void>()
    let waiting = 0
    const add = "UPDATE things SET amount = amount + 1 WHERE id = $1"
    const lockBoth = (first: string, second: string): Promise<void> =>
      things.database.transaction(async (query) => {
        await query(add, [first])
        if (++waiting === 2) meet.resolve()
        await meet.promise
        await query(add, [second])
      })
    await Promise.all([lockBoth("lock/1", "lock/2"), lockBoth("lock/2", "lock/1")])
    const rows = await things.database.query("SELECT amount FROM things WHERE id LIKE 'lock/%'")
    expect(rows).toEqual([{ amount: 2 }, { amount: 2 }])
  })

  test("a key that is simply taken is refused in the end", async () => {
    await things.database.query(insertThing, ["taken"])
    await expectRefusal(
      things.database.transaction((query) => query(insertThing, ["taken"])),
      "invalid_input",
    )
  })
})
