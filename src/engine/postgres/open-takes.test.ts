import { describe, expect, test } from "vitest"
import type { TaskId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import { createTask, QUEUED, STARTED } from "../suite/samples.ts"
import { waitUntil } from "../suite/subject.ts"
import type { Database } from "./connection/database.ts"
import { createNaming } from "./connection/naming.ts"
import { createDispatcher } from "./dispatcher.ts"
import { createGroupCommit } from "./group-commit.ts"
import { createJudgeLease } from "./judge-lease.ts"
import { createKnownTasks } from "./known-tasks.ts"
import { createOpenTakes } from "./open-takes.ts"
import { createPerformGroup } from "./perform-group.ts"
import { createChangeQueue } from "./queue/change-queue.ts"
import { createRunGroup } from "./run-group.ts"
import { createStore } from "./store.ts"
import { toRequest, useTestQueue } from "./test-queue.ts"
import { createWatchedCommit } from "./watched-commit.ts"

const subject = useTestQueue()

/** A process that writes and takes, on a database that may stand between it and the server. */
function openProcess(between: Pick<Database, "transaction"> = subject.database) {
  const { database, boss } = subject
  let transactions = 0
  const watched: Database = {
    ...database,
    transaction(work, options) {
      transactions += 1
      return between.transaction(work, options)
    },
  }
  const judgeLease = createJudgeLease()
  const performGroup = createPerformGroup({
    known: createKnownTasks(),
    onChanges: createChangeQueue(boss, true),
    notify: () => Promise.resolve(),
  })
  const writing = { database: watched, judgeLease, performGroup, statementOf: createNaming(60) }
  const groupCommit = createGroupCommit(createRunGroup(writing), () => {})
  const takes = createOpenTakes({ ...writing, onCommitted() {}, commit: groupCommit.commit })
  const dispatcher = createDispatcher({ query: database.query, boss, takes, tellOthers: () => Promise.resolve() })
  const commit = createWatchedCommit(groupCommit.commit, dispatcher, takes) as TaskStore["commit"]
  const store = createStore({ database, judgeLease, commit })
  return {
    takes,
    dispatcher,
    store,
    create: async () => (await createTask({ store } as never, QUEUED)).id,
    take: async () => (await dispatcher.take(toRequest())).map(({ taskId }) => taskId),
    claim: (taskId: TaskId) => commit([{ op: "task.apply", run: { taskId, run: 1 }, event: STARTED }]),
    /** How many there were since the last look. */
    countTransactions() {
      const count = transactions
      transactions = 0
      return count
    },
  }
}

describe("a take", () => {
  test("and the claims right behind it are one transaction", async () => {
    const { create, take, claim, countTransactions, store } = openProcess()
    const ids = await Promise.all(Array.from({ length: 20 }, create))
    countTransactions()
    const taken = await take()
    const answers = await Promise.all(taken.map(claim))
    expect(taken.toSorted()).toEqual(ids.toSorted())
    expect(answers.map(([task]) => task)).toMatchObject(taken.map((id) => ({ id, status: "running", fence: 1 })))
    expect(countTransactions()).toBe(1)
    expect(await subject.countTickets()).toBe(0)
    expect(await store.task(taken[0] as TaskId)).toMatchObject({ status: "running" })
  })

  test("leaves what is not claimed to others after a moment", async () => {
    const one = openProcess()
    const id = await one.create()
    expect(await one.take()).toEqual([id])
    const other = openProcess()
    expect(await other.claim(id)).toMatchObject([{ status: "running" }])
    await expect(one.claim(id)).rejects.toMatchObject({ code: "wrong_state" })
  })

  test("gives at once to others what is declined", async () => {
    const [one, other] = [openProcess(), openProcess()]
    const [first, second] = [await one.create(), await one.create()]
    const offers = await one.dispatcher.take(toRequest())
    one.dispatcher.decline(offers.filter(({ taskId }) => taskId === second))
    await one.claim(first)
    await waitUntil(async () => (await other.take())[0] === second)
    expect(await other.claim(second)).toMatchObject([{ status: "running" }])
  })

  test("of a run whose row somebody has locked leaves it its ticket", async () => {
    const { create, take, claim } = openProcess()
    const id = await create()
    const isLocked = Promise.withResolvers<void>()
    const letGo = Promise.withResolvers<void>()
    const holding = subject.database.transaction(async (query) => {
      await query("SELECT FROM tasks WHERE id = $1 FOR UPDATE", [id])
      isLocked.resolve()
      await letGo.promise
    })
    await isLocked.promise
    expect(await take()).toEqual([id])
    expect(await subject.countTickets()).toBe(1)
    letGo.resolve()
    await holding
    expect(await claim(id)).toMatchObject([{ status: "running" }])
    expect(await subject.countTickets()).toBe(0)
  })

  test("that the server takes back after it was offered is claimed in another transaction, once", async () => {
    let deadlocks = 0
    const { create, take, claim, countTransactions, store } = openProcess({
      transaction: (work) =>
        subject.database.transaction(async (query) => {
          const result = await work(query)
          if (deadlocks++ === 0) await query("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$")
          return result
        }),
    })
    deadlocks = 1
    const ids = [await create(), await create()]
    countTransactions()
    const taken = await take()
    deadlocks = 0
    const answers = await Promise.all(taken.map(claim))
    expect(deadlocks).toBeGreaterThan(0)
    expect(answers.map(([task]) => task)).toMatchObject(ids.map((id) => ({ id, status: "running", fence: 1 })))
    expect(countTransactions()).toBe(2)
    const events = await store.events(taken[0] as TaskId, 0, 10)
    expect(events.map(({ body }) => body.type)).toEqual(["task.queued", "task.started"])
    expect(await subject.countTickets()).toBe(0)
  })

  test("is closed with the store: its rows are free, and its claims are refused", async () => {
    const { create, take, takes } = openProcess()
    const id = await create()
    await take()
    await takes.close()
    const run = { taskId: id, run: 1 }
    expect(takes.claim(run, [{ op: "task.apply", run, event: STARTED }])).toBeUndefined()
    expect(await openProcess().claim(id)).toMatchObject([{ status: "running" }])
  })
})
