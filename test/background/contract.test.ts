import { expect, test } from "vitest"
import { backgroundCapable } from "../../src/plugin/background-adapter.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createGatedTool } from "../support/tools.ts"
import { call, openBackground } from "../support/background/open-background.ts"

test("000-14: a handle of the contract holds what the caller of its task wanted to find again", async () => {
  const gated = createGatedTool({ obeys: true })
  const { runtime } = await openBackground([], { tools: [gated.tool] })
  const capable = backgroundCapable(definePlugin({ kind: "tool", name: "test", tools: [gated.tool] }), runtime.tasks)
  await runtime.tasks.start({ tool: "gated", input: {}, metadata: { ticket: 42 } })
  expect(await capable.listTasks()).toMatchObject([{ toolName: "gated", metadata: { ticket: 42 } }])
})

test("000-09: a task that one vocabulary started is seen by the contract of its plugin, under the same id", async () => {
  const gated = createGatedTool({ obeys: true })
  const start = call("startBackgroundTask", { tool_name: "gated", arguments: { name: "a" } })
  const agent = await openBackground([start, "It runs."], { tools: [gated.tool] })
  await agent.session.send("go")
  const plugin = definePlugin({ kind: "tool", name: "test", tools: [gated.tool] })
  const capable = backgroundCapable(plugin, agent.runtime.tasks)
  const { id } = await agent.task(1)
  expect(agent.answers()).toMatchObject([{ task_id: id }])
  expect(await capable.getStatus(id)).toBe("running")
})
