import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createSessionId } from "../../src/task/id.ts"
import { beginHeldTurn } from "../support/held-turn.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace, type WorkplaceOptions } from "../support/workplace.ts"
import { isPostgres } from "../support/test-engine.ts"

/** A lost worker needs a process that dies, and output past its limit one that prints: see the slow tests. */
describe("A4. Who or what ended a task is on its record: person, model, deadline, budget, limit, shutdown, lost worker", () => {
  async function prepare(options: WorkplaceOptions = {}) {
    const clock = createManualClock()
    const gated = createGatedTool({ obeys: true })
    const workplace = await createWorkplace({ tools: [gated.tool], clock, ...options })
    return { ...workplace, clock, gated, tasks: workplace.meanwhile.tasks }
  }

  test("a person", async () => {
    const { tasks, gated } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {} })
    await gated.call(1)
    await tasks.cancel(id, { reason: "changed my mind" })
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "cancelled", stop: { by: "person", reason: "changed my mind" } })
  })

  test("a person, of a call in the foreground", async () => {
    const { tasks, gated } = await prepare()
    const execution = tasks.execute({ tool: "gated", input: {} })
    await gated.call(1)
    execution.cancel({ by: "person", reason: "Ctrl+C" })
    expect(await execution.answer).toMatchObject({ outcome: "cancelled", by: "person", reason: "Ctrl+C" })
  })

  test("the model", async () => {
    const { tasks, gated } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {} })
    await gated.call(1)
    await tasks.cancel(id, { by: "model", reason: "no longer needed" })
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "cancelled", stop: { by: "model", reason: "no longer needed" } })
  })

  test("a person, of a task that only waited in the queue", async () => {
    const { tasks } = await prepare({ background: { maxConcurrentTasks: 1 } })
    await tasks.start({ tool: "gated", input: {} })
    const queued = await tasks.start({ tool: "gated", input: {} })
    expect(await tasks.cancel(queued.id)).toMatchObject({ status: "cancelled", stop: { by: "person" }, survivors: [] })
  })

  test("a deadline", async () => {
    const { tasks, gated, clock } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {}, timeoutMs: 1_000 })
    await gated.call(1)
    clock.advance(1_000)
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "timed_out", stop: { by: "deadline" } })
  })

  test("a budget", async () => {
    const { tasks, gated } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {}, tokenLimit: 100 })
    const { context } = await gated.call(1)
    context.spend({ tokens: 100 })
    context.spend({ tokens: 1 })
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({
      status: "cancelled",
      stop: { by: "budget", reason: "it used 101 of 100 tokens" },
      usage: { tokens: 101 },
    })
  })

  test("the end of its session", async () => {
    const { tasks, gated } = await prepare()
    const session = createSessionId()
    const bound = await tasks.start({ tool: "gated", input: {}, session, lifetime: "session" })
    const free = await tasks.start({ tool: "gated", input: {}, session })
    await gated.call(2)
    await tasks.closeSession(session)
    const { task } = await tasks.result(bound.id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "cancelled", stop: { by: "lifetime", reason: "its session was closed" } })
    expect((await tasks.get(free.id)).task.status).toBe("running")
  })

  test("the end of its turn", async () => {
    const { tasks, gated } = await prepare()
    const turn = await beginHeldTurn(tasks)
    const { id } = await tasks.start({ tool: "gated", input: {}, parentTask: turn.id, lifetime: "turn" })
    await gated.call(1)
    await turn.end()
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "cancelled", stop: { by: "lifetime", reason: "its turn ended" } })
  })

  test("a shutdown", async () => {
    const { meanwhile, tasks, gated, another } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {} })
    await gated.call(1)
    await meanwhile.close()
    const { task } = await (await another()).tasks.get(id)
    // Where workers share a server, the reason names the one that left.
    const who = isPostgres ? String.raw`the worker on .+, pid \d+,` : "Meanwhile"
    const reason = new RegExp(`^${who} was shut down, and gated works inside that process and may not be repeated$`)
    expect(task).toMatchObject({ status: "cancelled", stop: { by: "shutdown", reason: expect.stringMatching(reason) } })
  })

  test("nobody, when it ended by itself", async () => {
    const { tasks, gated } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {} })
    ;(await gated.call(1)).finish()
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task.status).toBe("completed")
    expect(task).not.toHaveProperty("stop")
  })

  test("and the events say it too", async () => {
    const { meanwhile, tasks, gated } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {} })
    await gated.call(1)
    await tasks.cancel(id, { by: "model", reason: "superseded" })
    await tasks.result(id, { waitMs: 30_000 })
    const bodies = (await meanwhile.engine.store.events(id, 0, 100)).map(({ body }) => body)
    expect(bodies).toContainEqual({ type: "task.stop_requested", by: "model", reason: "superseded" })
    expect(bodies.at(-1)).toMatchObject({ type: "task.cancelled", by: "model", reason: "superseded", survivors: [] })
  })
})
