import { expect, onTestFinished, test } from "vitest"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import { TASK_KINDS } from "../../../task/record.ts"
import { applyEvents, CANCELLED, createTask, QUEUED, STARTED, WORKER } from "../../suite/samples.ts"
import { openDatabase } from "../connection/open-database.ts"
import { createTestPostgres } from "../../../../test/support/postgres/engine.ts"

const RELEASED = { type: "task.released", reason: "shutdown" } as const
const REQUEST: TakeRequest = {
  worker: WORKER,
  limit: 1,
  kinds: TASK_KINDS,
  plugins: ["shell", "@scope/plugin √"],
  fullSessions: [],
  fullModels: [],
  fullWorkspaces: [],
}

async function open() {
  const { engine, url, dispose } = await createTestPostgres()
  const database = await openDatabase({ url })
  onTestFinished(async () => {
    await database.close()
    await dispose()
  })
  async function countTickets(): Promise<number> {
    return (await database.query<{ count: number }>("SELECT count(*) AS count FROM meanwhile_queue.job"))[0]?.count ?? 0
  }
  return { engine, countTickets }
}

test("there is a ticket for as long as a run is queued", async () => {
  const { engine, countTickets } = await open()
  const { id } = await createTask(engine)
  expect(await countTickets()).toBe(1)
  await applyEvents(engine, id, STARTED)
  expect(await countTickets()).toBe(0)
  await applyEvents(engine, id, RELEASED)
  expect(await countTickets()).toBe(1)
  await applyEvents(engine, id, CANCELLED)
  expect(await countTickets()).toBe(0)
  await engine.store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" }])
  expect(await countTickets()).toBe(1)
  await applyEvents(engine, id, STARTED, RELEASED, STARTED, RELEASED)
  expect(await countTickets()).toBe(1)
})

test("a task that is refused, or taken at once, leaves no ticket", async () => {
  const { engine, countTickets } = await open()
  const { id } = await createTask(engine, { as: "running", worker: WORKER })
  const impossible = { op: "task.apply", run: { taskId: id, run: 9 }, event: STARTED } as const
  const release = { op: "task.apply", run: { taskId: id, run: 1 }, event: RELEASED } as const
  await expect(engine.store.commit([release, impossible])).rejects.toMatchObject({ code: "wrong_state" })
  expect(await countTickets()).toBe(0)
})

test("a prioritized task is taken first, even when no other one is looked at", async () => {
  const { engine } = await open()
  await createTask(engine)
  await createTask(engine)
  const { id } = await createTask(engine)
  await engine.store.commit([{ op: "task.prioritize", taskId: id, priority: 3 }])
  expect(await engine.dispatcher.take(REQUEST)).toMatchObject([{ taskId: id }])
})

test("a plugin may have any name", async () => {
  const { engine, countTickets } = await open()
  const { id } = await createTask(engine, QUEUED, { plugin: "@scope/plugin √" })
  expect(await engine.dispatcher.take(REQUEST)).toMatchObject([{ taskId: id, plugin: "@scope/plugin √" }])
  expect(await countTickets()).toBe(1)
})
