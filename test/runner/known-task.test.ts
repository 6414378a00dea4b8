import { expect, test } from "vitest"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a call with a key that is answered with its end leaves nothing to report", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const { tasks, engine } = meanwhile
  const call = { tool: "echo", input: { value: 1 }, idempotencyKey: "k" }
  expect((await tasks.execute(call).answer).outcome).toBe("completed")
  expect((await engine.store.notices({}, 10)).map(({ state }) => state)).toEqual(["consumed"])
  const [task] = (await tasks.list({ isConsumed: true })).items
  expect(task).toMatchObject({ idempotencyKey: "k", status: "completed" })
})

test("a key stands for one tool: another one with it is refused", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [echo, gated.tool] })
  const { tasks } = meanwhile
  await tasks.start({ tool: "echo", input: {}, idempotencyKey: "k" })
  const other = { tool: "gated", input: {}, idempotencyKey: "k" }
  await expect(tasks.execute(other).answer).rejects.toMatchObject({ code: "invalid_input" })
  await expect(tasks.start(other)).rejects.toMatchObject({ code: "invalid_input" })
  expect(gated.calls).toEqual([])
  const started = await Promise.all([1, 2, 3, 4].map(() => tasks.start({ tool: "gated", input: {} })))
  expect(started.map(({ status }) => status)).toEqual(["running", "running", "running", "running"])
})

test("a call of a step that already has a task is answered from that task, and runs nothing", async () => {
  const gated = createGatedTool({ obeys: true })
  const parent = createGatedTool({ name: "parent", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [parent.tool, gated.tool] })
  const { tasks } = meanwhile
  const asking = await tasks.start({ tool: "parent", input: {} })
  const call = { tool: "gated", input: {}, askedBy: { taskId: asking.id, run: 1, key: "call 1" } }
  const first = tasks.execute(call)
  const { finish } = await gated.call(1)
  expect(await first.promote()).toBe(true)
  const second = tasks.execute(call)
  finish("once")
  expect(await second.answer).toMatchObject({ outcome: "completed", patch: { payload: "once" } })
  expect(await tasks.execute(call).answer).toMatchObject({ outcome: "completed", patch: { payload: "once" } })
  expect(gated.calls).toHaveLength(1)
  expect((await tasks.list({ tool: "gated" })).items).toHaveLength(1)
})
