import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { Runtime } from "../../src/app.ts"
import type { OnCrash } from "../../src/task/step.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a step is taken once, and finished steps are numbered in the order in which they finished", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  const slow = Promise.withResolvers<string>()
  const keys: string[] = []
  const first = context.step("slow", async ({ idempotencyKey }) => {
    keys.push(idempotencyKey)
    return slow.promise
  })
  await expect(context.step("slow", async () => null)).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("give each step its own key"),
  })
  expect(await context.step("quick", async () => 1)).toBe(1)
  slow.resolve("done")
  expect(await first).toBe("done")
  expect(await context.step("slow", async () => expect.unreachable())).toBe("done")
  expect(keys).toEqual([`${id}/1/slow`])
  const steps = await meanwhile.engine.store.steps(id, 1)
  const numbered = Object.fromEntries(steps.map((step) => [step.key, step.state === "finished" && step.completion]))
  expect(numbered).toEqual({ quick: 1, slow: 2 })
})

test("steps taken before a promotion are written with it, in the order in which they finished", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  const slow = Promise.withResolvers<string>()
  const first = context.step("began first", () => slow.promise)
  await context.step("ended first", async () => "b")
  slow.resolve("a")
  await first
  const open = Promise.withResolvers<null>()
  const last = context.step("in flight", () => open.promise)
  expect(await execution.promote()).toBe(true)
  open.resolve(null)
  await last
  const steps = await meanwhile.engine.store.steps(execution.taskId, 1)
  const numbered = Object.fromEntries(steps.map((step) => [step.key, step.state === "finished" && step.completion]))
  expect(numbered).toEqual({ "ended first": 1, "began first": 2, "in flight": 3 })
})

test("a step that failed, or that could not begin, may be taken again", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  await expect(context.step("a", () => Promise.reject(new Error("not yet")))).rejects.toThrow("not yet")
  const { store } = meanwhile.engine
  const commit = store.commit
  Object.assign(store, { commit: () => Promise.reject(new Error("the disk is gone")) })
  await expect(context.step("b", async () => expect.unreachable())).rejects.toThrow("the disk is gone")
  Object.assign(store, { commit })
  expect(await context.step("a", async () => 1)).toBe(1)
  expect(await context.step("b", async () => 2)).toBe(2)
})

/** One finished and one unfinished step of a worker whose clock stands still, taken over by a second one. */
async function loseWorker(onCrash: OnCrash) {
  const gated = createGatedTool({ obeys: true, onCrash: "retry" })
  // The worker has one slot: a run that it lost without knowing it is not offered to it again.
  const background = { maxConcurrentTasks: 1 }
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock: createManualClock(), background })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  await context.step("finished", async () => "first")
  const open = Promise.withResolvers<null>()
  void context.step("in flight", () => open.promise, { onCrash }).catch(() => {})
  await eventually("both are written", async () => (await meanwhile.engine.store.steps(id, 1)).length === 2)
  const clock = createManualClock()
  const second = await another({ clock, background: { leaseSeconds: 3 } })
  const status = await eventually("it is decided", async () => {
    // In small steps, with looks in between: a worker counts no silence from a time when it stood still itself.
    clock.advance(100)
    const { task } = await second.tasks.get(id)
    return (task.status === "running" ? gated.calls.length > 1 : task.status !== "queued") && task.status
  })
  return { id, gated, second, status, clock }
}

async function answerOpenWait({ tasks, engine }: Runtime, answer: boolean) {
  const [wait] = await engine.store.waits({ isOpen: true })
  if (!wait) throw new Error("Nothing waits.")
  return { wait, task: await tasks.answer(wait.id, answer, "me") }
}

test("onCrash retry: the run goes on elsewhere, and what it had finished is not repeated", async () => {
  const { id, gated, second, status } = await loseWorker("retry")
  expect(status).toBe("running")
  const { context, finish } = await gated.call(2)
  expect(await context.step("finished", async () => expect.unreachable())).toBe("first")
  expect(await context.step("in flight", async () => "again")).toBe("again")
  finish("whole")
  const { task } = await second.tasks.result(id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "completed", run: 1, patch: { payload: "whole" } })
})

test("onCrash fail: the run is interrupted and says why", async () => {
  const { id, second, status } = await loseWorker("fail")
  expect(status).toBe("interrupted")
  expect((await second.tasks.get(id)).task).toMatchObject({ by: "lost_worker", failure: { code: "worker_lost" } })
})

test("onCrash ask: yes runs it again, and no second answer counts", async () => {
  const { gated, second, status } = await loseWorker("ask")
  expect(status).toBe("waiting")
  const { wait, task } = await answerOpenWait(second, true)
  expect(task.status).toBe("queued")
  await expect(second.tasks.answer(wait.id, false, "me")).rejects.toMatchObject({ code: "wrong_state" })
  await gated.call(2)
})

test("onCrash ask: no cancels it", async () => {
  const { id, gated, second } = await loseWorker("ask")
  const { task } = await answerOpenWait(second, false)
  expect(task).toMatchObject({ id, status: "cancelled", stop: { by: "person" } })
  expect(gated.calls).toHaveLength(1)
})

test("a run that waits for an answer can be cancelled, and then nobody has to answer", async () => {
  const { id, second, status } = await loseWorker("ask")
  expect(status).toBe("waiting")
  expect((await second.tasks.cancel(id)).status).toBe("cancelled")
  expect(await second.engine.store.waits({ isOpen: true })).toEqual([])
})
