import { describe, expect, test } from "vitest"
import { createSessionId, type TaskId } from "../../../task/id.ts"
import { waitUntil } from "../../suite/subject.ts"
import { type TestProcessOptions, openTestProcess } from "../../../../test/support/postgres/process.ts"
import { TICKETS, toRequest, useTestQueue } from "../../../../test/support/postgres/queue.ts"

const subject = useTestQueue()

const openProcess = (...options: TestProcessOptions) => openTestProcess(subject, ...options)

/** Locks rows in a transaction that stays open until this is disposed of. */
async function holdRows(statement: string): Promise<AsyncDisposable> {
  const isHeld = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const holding = subject.database.transaction(async (query) => {
    await query(statement)
    isHeld.resolve()
    await letGo.promise
  })
  await isHeld.promise
  return {
    async [Symbol.asyncDispose]() {
      letGo.resolve()
      await holding
    },
  }
}

describe("a run that was taken", () => {
  test("is claimed with all others of its moment in one transaction, which removes their tickets", async () => {
    const { create, take, claim, countTransactions, store } = openProcess()
    const ids = await Promise.all(Array.from({ length: 20 }, create))
    const taken = await take()
    countTransactions()
    const answers = await Promise.all(taken.map(claim))
    expect(taken.toSorted()).toEqual(ids.toSorted())
    expect(answers.map(([task]) => task)).toMatchObject(taken.map((id) => ({ id, status: "running", fence: 1 })))
    expect(countTransactions()).toBe(1)
    expect(await subject.countTickets()).toBe(0)
    expect(await store.task(taken[0] as TaskId)).toMatchObject({ status: "running" })
  })

  test("can be claimed by another process that finds it, and then no more by the first", async () => {
    const one = openProcess()
    const id = await one.create()
    expect(await one.take()).toEqual([id])
    const other = openProcess()
    expect(await other.claim(id)).toMatchObject([{ status: "running" }])
    await expect(one.claim(id)).rejects.toMatchObject({ code: "wrong_state" })
  })

  test("and is not claimed goes to others after a moment", async () => {
    const one = openProcess()
    const [first, second] = [await one.create(), await one.create()]
    expect(await one.take()).toEqual([first, second])
    await one.claim(first)
    await waitUntil(async () => (await openProcess().take())[0] === second)
  })

  test("and claimed is told to nobody", async () => {
    let told = 0
    const one = openProcess(subject.database, () => (told += 1))
    const id = await one.create()
    await one.take()
    await one.claim(id)
    await one.dispatcher.close()
    expect(told).toBe(0)
  })

  test("may lie behind runs that do not fit", async () => {
    const one = openProcess()
    const session = createSessionId()
    const busy = await Promise.all(Array.from({ length: 4 }, () => one.create({ session })))
    const free = await one.create()
    expect(await one.take({ fullSessions: [session], limit: 2 })).toEqual([free])
    expect(await one.claim(free)).toMatchObject([{ status: "running" }])
    await waitUntil(async () => (await openProcess().take()).length === busy.length)
  })

  test("fills the room that another plugin leaves, which has less than it seemed", async () => {
    const { create, take } = openProcess()
    await create({ plugin: "web" })
    await create({ plugin: "web" })
    const shell = [await create(), await create(), await create()]
    await using _ = await holdRows(`SELECT FROM ${TICKETS} WHERE name = 'plugin.web' FOR UPDATE`)
    expect(await take({ plugins: ["shell", "web"], limit: 3 })).toEqual(shell)
  })

  test("and declined goes to others at once", async () => {
    const [one, other] = [openProcess(), openProcess()]
    const [first, second] = [await one.create(), await one.create()]
    const offers = await one.dispatcher.take(toRequest())
    one.dispatcher.decline(offers.filter(({ taskId }) => taskId === second))
    await one.claim(first)
    await waitUntil(async () => (await other.take())[0] === second)
    expect(await other.claim(second)).toMatchObject([{ status: "running" }])
  })

  test("although somebody has its row locked keeps its ticket until it is claimed", async () => {
    const { create, take, claim } = openProcess()
    const id = await create()
    {
      await using _ = await holdRows("SELECT FROM tasks FOR UPDATE")
      expect(await take()).toEqual([id])
      expect(await subject.countTickets()).toBe(1)
    }
    expect(await claim(id)).toMatchObject([{ status: "running" }])
    expect(await subject.countTickets()).toBe(0)
  })

  test("is claimed once when the server rolls back the transaction of the claim", async () => {
    let deadlocks = 0
    const { create, take, claim, store } = openProcess({
      transaction: (work) =>
        subject.database.transaction(async (query) => {
          const result = await work(query)
          if (deadlocks++ === 0) await query("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$")
          return result
        }),
    })
    deadlocks = 1
    const ids = [await create(), await create()]
    const taken = await take()
    deadlocks = 0
    const answers = await Promise.all(taken.map(claim))
    expect(deadlocks).toBeGreaterThan(0)
    expect(answers.map(([task]) => task)).toMatchObject(ids.map((id) => ({ id, status: "running", fence: 1 })))
    const events = await store.events(taken[0] as TaskId, 0, 10)
    expect(events.map(({ body }) => body.type)).toEqual(["task.queued", "task.started"])
    expect(await subject.countTickets()).toBe(0)
  })
})
