import { expect, test } from "vitest"
import { createGatedTool } from "../../support/tools.ts"
import { createWorkplace } from "../../support/workplace.ts"

test("maxAgentDepth: an agent deeper than it allows is refused, other tools are not", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const tool = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [agent.tool, tool.tool], background: { maxAgentDepth: 1 } })
  const { tasks } = meanwhile
  const top = await tasks.start({ tool: "agent", input: {} })
  const below = await tasks.start({ tool: "agent", input: {}, parentTask: top.id })
  expect(below.depth).toBe(1)
  await expect(tasks.start({ tool: "agent", input: {}, parentTask: below.id })).rejects.toMatchObject({
    code: "limit_exceeded",
    details: { limit: "maxAgentDepth", depth: 2 },
    message: expect.stringContaining("Do the work in this agent"),
  })
  expect((await tasks.start({ tool: "gated", input: {}, parentTask: below.id })).depth).toBe(2)
})

test("maxAgentFanOut: a task has at most so many live agents, however they are asked for", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [agent.tool], background: { maxAgentFanOut: 2 } })
  const { tasks } = meanwhile
  const parent = await tasks.start({ tool: "agent", input: {} })
  const call = { tool: "agent", input: { name: "child" }, parentTask: parent.id }
  const asked = await Promise.allSettled(Array.from({ length: 6 }, () => tasks.start(call)))
  expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(2)
  expect(asked.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { code: "limit_exceeded", details: { limit: "maxAgentFanOut" } },
  })
  const child = await agent.call(2)
  child.finish()
  await tasks.result(child.context.taskId, { waitMs: 20_000 })
  expect((await tasks.start(call)).status).toBe("running")
})

test("maxAgentFanOut: an agent counts while it is waited for, while it is promoted, and after", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [agent.tool], background: { maxAgentFanOut: 1 } })
  const { tasks, engine } = meanwhile
  const parent = await tasks.start({ tool: "agent", input: {} })
  const call = { tool: "agent", input: { name: "child" }, parentTask: parent.id }
  const full = { code: "limit_exceeded", details: { limit: "maxAgentFanOut", siblings: 1 } }
  const child = tasks.execute(call)
  await agent.call(2)
  await expect(tasks.start(call)).rejects.toMatchObject(full)

  const { commit } = engine.store
  const disk = Promise.withResolvers<void>()
  const slowly: typeof commit = async (operations, options) => {
    await disk.promise
    return commit(operations, options)
  }
  Object.assign(engine.store, { commit: slowly })
  const promoted = child.promote()
  await expect(tasks.start(call)).rejects.toMatchObject(full)
  disk.resolve()
  expect(await promoted).toBe(true)
  await expect(tasks.start(call)).rejects.toMatchObject(full)
})

test("maxTokensPerTask: a task that uses more is stopped, whatever limit it asked for", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { maxTokensPerTask: 100 } })
  const { id, limits } = await meanwhile.tasks.start({ tool: "gated", input: {}, tokenLimit: 5_000 })
  expect(limits.tokens).toBe(100)
  const { context } = await gated.call(1)
  context.spend({ tokens: 100 })
  expect(context.signal.aborted).toBe(false)
  context.spend({ tokens: 1 })
  const { task } = await meanwhile.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "cancelled", stop: { by: "budget" }, usage: { tokens: 101, costMicros: 0 } })
})

test("maxCostMicrosPerTask: a task that costs more is stopped", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { maxCostMicrosPerTask: 7 } })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  context.spend({ costMicros: 8, tokens: 1_000_000 })
  const { task } = await meanwhile.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "cancelled", stop: { by: "budget" }, usage: { costMicros: 8 } })
})

test("outputLimitBytes: the newest output is kept and the rest is dropped, unless the call says otherwise", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { outputLimitBytes: 4_096 } })
  const { tasks } = meanwhile
  const capped = await tasks.start({ tool: "gated", input: {} })
  const roomy = await tasks.start({ tool: "gated", input: {}, outputLimitBytes: 1_000_000 })
  for (const number of [1, 2]) {
    const { context, finish } = await gated.call(number)
    for (let line = 0; line < 1_000; line++) context.output.write(`line ${line} of a thousand\n`)
    finish()
  }
  for (const { id } of [capped, roomy]) await tasks.result(id, { waitMs: 20_000 })
  const kept = await tasks.output(capped.id)
  expect(kept.droppedBefore).toBeGreaterThan(0)
  expect(kept.text).toMatch(/line 999 of a thousand\n$/)
  expect(await tasks.output(roomy.id)).toMatchObject({ droppedBefore: null, text: expect.stringMatching(/^line 0 /) })
})
