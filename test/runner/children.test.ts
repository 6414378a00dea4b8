import { expect, test } from "vitest"
import { createSessionId, createTaskId } from "../../src/task/id.ts"
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

test("what a tool starts is below its own run and in its session, whatever the call leaves out or names", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const background = { maxAgentDepth: 1 }
  const { meanwhile } = await createWorkplace({ tools: [agent.tool, echo], background })
  const session = createSessionId()
  const execution = meanwhile.tasks.execute({ tool: "agent", input: {}, session })
  const { context } = await agent.call(1)
  const inherited = { session, parentTask: execution.taskId, depth: 1 }
  expect(await context.tasks.start({ tool: "echo", input: {} })).toMatchObject(inherited)
  const dropped = { tool: "echo", input: {}, session: null, parentTask: null }
  expect(await context.tasks.start(dropped)).toMatchObject(inherited)
  expect(await context.tasks.start({ ...dropped, parentTask: createTaskId() })).toMatchObject(inherited)
  const own = createSessionId()
  expect(await context.tasks.start({ ...dropped, session: own })).toMatchObject({ ...inherited, session: own })

  const child = await context.tasks.start({ tool: "agent", input: {} })
  expect(child.depth).toBe(1)
  const { tasks } = (await agent.call(2)).context
  await expect(tasks.start({ tool: "agent", input: {}, parentTask: null })).rejects.toMatchObject({
    code: "limit_exceeded",
  })
})
