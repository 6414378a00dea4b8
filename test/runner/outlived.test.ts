import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a stopped agent names the tasks that go on because they were started to run for ever", async () => {
  const gated = createGatedTool({ obeys: true })
  const agent = defineTool({
    name: "agent",
    description: "Starts a server and a build, and waits.",
    kind: "agent",
    background: { mode: "always" },
    input: z.object({}),
    async run(_input, { tasks, signal }) {
      await tasks.start({ tool: "gated", input: { name: "server" }, lifetime: "forever" })
      await tasks.start({ tool: "gated", input: { name: "build" } })
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))))
    },
  })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool, agent] })
  const { id } = await meanwhile.tasks.start({ tool: "agent", input: {} })
  await gated.call(2)
  const { items } = await meanwhile.tasks.list({ lifetimes: ["forever"] })
  expect((await meanwhile.tasks.get(id)).outlived).toEqual([])
  await meanwhile.tasks.cancel(id)
  const { task, outlived } = await meanwhile.tasks.result(id, { waitMs: 60_000 })
  expect(task.status).toBe("cancelled")
  expect(outlived).toEqual(items.map((server) => server.id))
  expect(outlived).toHaveLength(1)
})
