import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { backgroundCapable } from "../../src/plugin/background-adapter.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

async function createCapable(options: Parameters<typeof createGatedTool>[0] = {}) {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true, ...options })
  const tools = [gated.tool, echo]
  const { meanwhile } = await createWorkplace({ tools, clock })
  const capable = backgroundCapable(definePlugin({ kind: "tool", name: "test", tools }), meanwhile.tasks)
  return { clock, gated, meanwhile, capable }
}

test("004-62: a task started through the contract runs, is listed while it does, and hands out its result", async () => {
  const { capable, gated } = await createCapable()
  const handle = await capable.startBackground("gated", { name: "a" }, 600)
  const call = await gated.call(1)
  expect(await capable.getStatus(handle.taskId)).toBe("running")
  expect(await capable.listTasks()).toEqual([handle])
  expect(await capable.getResult(handle.taskId)).toMatchObject({ status: "running", result: null })
  const waiting = capable.getResult(handle.taskId, true)
  call.finish({ rows: 3 })
  expect(await waiting).toMatchObject({ status: "completed", result: { rows: 3 }, error: null })
  expect(await capable.listTasks()).toEqual([])
})

test("an exception in the tool is the error of its result", async () => {
  const { capable, gated } = await createCapable()
  const { taskId } = await capable.startBackground("gated", {})
  const call = await gated.call(1)
  call.fail(new Error("no disk"))
  expect(await capable.getResult(taskId, true)).toMatchObject({ status: "failed", error: "no disk" })
})

test("a cancelled task is gone, and cancelling it again is still true", async () => {
  const { capable, gated } = await createCapable()
  const { taskId } = await capable.startBackground("gated", {})
  await gated.call(1)
  expect(await capable.cancel(taskId)).toBe(true)
  expect(await capable.getStatus(taskId)).toBe("cancelled")
  expect(await capable.cancel(taskId)).toBe(true)
})

test("the time limit of the contract is enforced and shows as timeout", async () => {
  const { capable, gated, clock } = await createCapable()
  const { taskId } = await capable.startBackground("gated", {}, 60)
  await gated.call(1)
  clock.advance(60_000)
  expect(await capable.getResult(taskId, true)).toMatchObject({ status: "timeout" })
})

test("an unknown task is not found, and a wrong argument starts nothing", async () => {
  const { capable } = await createCapable()
  await expect(capable.getStatus("00000000-0000-4000-8000-000000000000")).rejects.toMatchObject({ code: "not_found" })
  await expect(capable.startBackground("gated", { name: 7 })).rejects.toMatchObject({ code: "invalid_input" })
  expect(await capable.listTasks()).toEqual([])
})

test("cleaning up removes tasks used long enough ago and keeps those whose result nobody has seen", async () => {
  const { capable, clock } = await createCapable()
  const used = await capable.startBackground("echo", { value: 1 })
  const unseen = await capable.startBackground("echo", { value: 2 })
  await capable.getResult(used.taskId, true)
  while ((await capable.getStatus(unseen.taskId)) !== "completed") await new Promise((resolve) => setImmediate(resolve))
  expect(await capable.cleanupCompleted()).toBe(0)
  clock.advance(3_600_000)
  expect(await capable.cleanupCompleted()).toBe(1)
  expect(await capable.getStatus(unseen.taskId)).toBe("completed")
})

test("work that already runs is registered without being run again", async () => {
  const { capable, gated } = await createCapable()
  const work = Promise.withResolvers<string>()
  const { taskId } = await capable.registerRunningTask(work.promise, "gated", {})
  expect(await capable.getStatus(taskId)).toBe("running")
  work.resolve("done")
  expect(await capable.getResult(taskId, true)).toMatchObject({ status: "completed", result: "done" })
  expect(gated.calls).toHaveLength(0)
})
