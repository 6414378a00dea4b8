import { expect, test } from "vitest"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a call in the foreground starts children like the task it may become", async () => {
  const parent = createGatedTool({ name: "parent", obeys: true })
  const child = createGatedTool({ name: "child", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [parent.tool, child.tool, echo] })
  const { tasks } = meanwhile
  const execution = tasks.execute({ tool: "parent", input: {} })
  await parent.call(1)
  const parentTask = execution.taskId
  expect(await tasks.start({ tool: "echo", input: {}, parentTask })).toMatchObject({ parentTask, depth: 1 })
  const waitedFor = tasks.execute({ tool: "child", input: {}, parentTask })
  await child.call(1)
  expect(await tasks.start({ tool: "echo", input: {}, parentTask: waitedFor.taskId })).toMatchObject({ depth: 2 })
  expect(await execution.promote()).toBe(true)
  expect(await tasks.start({ tool: "echo", input: {}, parentTask })).toMatchObject({ parentTask, depth: 1 })
})

test("a step of a call in the foreground cannot ask for a task, and can once the call has a record", async () => {
  const parent = createGatedTool({ name: "parent", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [parent.tool, echo] })
  const { tasks } = meanwhile
  const execution = tasks.execute({ tool: "parent", input: {} })
  await parent.call(1)
  const call = { tool: "echo", input: {}, askedBy: { taskId: execution.taskId, run: 1, key: "call 1" } }
  const refusal = { code: "wrong_state", message: expect.stringContaining("runs in the foreground") }
  await expect(tasks.start(call)).rejects.toMatchObject(refusal)
  await expect(tasks.execute(call).answer).rejects.toMatchObject(refusal)
  const promoted = execution.promote()
  expect((await tasks.start(call)).askedBy).toEqual(call.askedBy)
  expect(await promoted).toBe(true)
})
