import { describe, expect, test } from "vitest"
import { expectRefusal } from "../../suite/subject.ts"
import { eventually } from "../../../../test/support/eventually.ts"
import { openDisposable } from "../../../../test/support/postgres/disposable.ts"
import { startPooler } from "../../../../test/support/postgres/pooler.ts"
import { startProxy } from "../../../../test/support/postgres/proxy.ts"
import { insertThing, useThings } from "../../../../test/support/postgres/things.ts"

const things = useThings()

const WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

describe("a connection that is lost while it commits", () => {
  for (const { moment, wish } of [
    { moment: "before the server has read it", wish: "cut" },
    { moment: "before the answer is back", wish: "swallow" },
  ] as const)
    test(`${moment}: the transaction happens once`, async () => {
      await using proxy = await startProxy(things.url)
      await using cut = await openDisposable({ url: proxy.url })
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
        expect(await things.count(id)).toBe(1)
        expect(await things.count(`unheard/${id}`)).toBe(1)
      }
    })

  test("and reaches the server after it was tried again: the transaction happens once", async () => {
    await using proxy = await startProxy(things.url)
    await using cut = await openDisposable({ url: proxy.url })
    for (const round of [1, 2, 3]) {
      let accidents = 1
      proxy.onRequest = (data) => (data.includes("COMMIT") && accidents-- > 0 ? "delay" : "pass")
      const id = `delay/${round}/`
      await cut.transaction((query) => query("INSERT INTO things (id) VALUES ($1 || gen_random_uuid())", [id]))
      await proxy.deliver()
      expect(await things.count(id)).toBe(1)
    }
  })

  test.each([
    { which: "first", before: 0 },
    { which: "second", before: 1 },
  ])(
    "and reaches the server while it is looked up whether the $which one did: it happens once",
    async ({ which, before }) => {
      await using proxy = await startProxy(things.url)
      await using cut = await openDisposable({ url: proxy.url })
      const insert = (id: string) =>
        cut.transaction((query) => query("INSERT INTO things (id) VALUES ($1 || gen_random_uuid())", [id]))
      for (let index = 0; index < before; index += 1) await insert(`before/${which}/`)
      const isWaiting = async () => (await things.database.query(WAITING)).length > 0
      let accidents = 1
      let delivered: Promise<void> | undefined
      proxy.onRequest = async (data) => {
        if (data.includes("COMMIT") && accidents-- > 0) return "delay"
        if (delivered || !data.includes("UPDATE commit_marks SET number")) return "pass"
        let isOver = false
        delivered = proxy.deliver().finally(() => (isOver = true))
        await eventually("the late commit waits, or is over", async () => isOver || isWaiting())
        return "pass"
      }
      await insert(`late/${which}/`)
      expect(delivered).toBeDefined()
      await delivered
      expect(await things.count(`late/${which}/`)).toBe(1)
    },
  )

  test("behind a pooler, before the answer is back: the transaction happens once", async () => {
    await using pooler = await startPooler(things.url, { handsOutBy: "transaction", settings: "dropped" })
    await using proxy = await startProxy(pooler.url)
    await using cut = await openDisposable({ url: proxy.url })
    let accidents = 0
    proxy.onRequest = (data) => (data.includes("COMMIT") && accidents-- > 0 ? "swallow" : "pass")
    for (const round of [1, 2, 3]) {
      let isFirst = true
      const id = `pooled/${round}/`
      await cut.transaction(async (query) => {
        await query("INSERT INTO things (id) VALUES ($1 || gen_random_uuid())", [id])
        accidents = isFirst ? 1 : 0
        isFirst = false
      })
      expect(await things.count(id)).toBe(1)
    }
  })

  test("every time: it is refused in the end", async () => {
    await using proxy = await startProxy(things.url)
    await using cut = await openDisposable({ url: proxy.url, patienceMs: 50 })
    proxy.onRequest = (data) => (data.includes("pg_current_xact_id_if_assigned") ? "cut" : "pass")
    await expectRefusal(
      cut.transaction((query) => query(insertThing, ["never"])),
      "store_unavailable",
    )
    expect(await things.count("never")).toBe(0)
  })

  test("and cannot be made again: the error says that the outcome is not known", async () => {
    await using proxy = await startProxy(things.url)
    await using cut = await openDisposable({ url: proxy.url, patienceMs: 50 })
    let isDead = false
    proxy.onRequest = (data) => {
      isDead ||= data.includes("COMMIT")
      return isDead ? "cut" : "pass"
    }
    const attempt = cut.transaction((query) => query(insertThing, ["unknown"]))
    await expect(attempt).rejects.toMatchObject({ code: "store_unavailable", message: /not known whether/ })
  })
})
