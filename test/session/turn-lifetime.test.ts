import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import type { TaskId } from "../../src/task/id.ts"
import { createGatedTool } from "../support/tools.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"

test.each(PLACES)("a task with the lifetime of its turn is stopped with the turn, %s", async (_, isKept) => {
  const started = new Map<string, TaskId>()
  const gated = createGatedTool({ background: { mode: "always" }, obeys: true })
  const starter = defineTool({
    name: "start_two",
    description: "Starts one that lives as long as the turn and one that goes on.",
    input: z.object({}),
    run: async (_input, { tasks }) => {
      for (const lifetime of ["turn", "session"] as const) {
        started.set(lifetime, (await tasks.start({ tool: "gated", input: {}, lifetime })).id)
      }
      return "started"
    },
  })
  const script = [{ calls: [{ tool: "start_two" }] }, "Done."]
  const { session, runtime } = await openAgent(script, { isKept, tools: [gated.tool, starter] })
  await session.send("Start them.")
  const idOf = (lifetime: string) => started.get(lifetime) ?? ""
  const { task } = await runtime.tasks.result(idOf("turn"), { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "cancelled", stop: { by: "lifetime", reason: "its turn ended" } })
  expect((await runtime.tasks.get(idOf("session"))).task.status).toBe("running")
})
