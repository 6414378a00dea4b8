import { expect, test } from "vitest"
import { z } from "zod"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { openAgent } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"

test("G5. A tool that says nothing about the background and takes twelve seconds gives its result", async () => {
  const clock = createManualClock()
  const begun = Promise.withResolvers<void>()
  const done = Promise.withResolvers<void>()
  const bake = defineTool({
    name: "bake",
    description: "Bakes a cake.",
    input: z.object({}),
    async run(_input, { signal }) {
      begun.resolve()
      await done.promise
      return { cake: signal.aborted ? "burnt" : "golden" }
    },
  })
  const asksForCake = { calls: [{ tool: "bake", input: {} }] }
  const agent = await openAgent([asksForCake, "It is in the oven.", "It is golden."], {
    isKept: true,
    clock,
    tools: [bake],
    reports: { enabled: true },
  })
  const turn = agent.session.send("bake a cake")
  await begun.promise
  clock.advance(10_000)
  expect((await turn).text).toBe("It is in the oven.")
  clock.advance(2_000)
  done.resolve()
  const [task] = (await agent.runtime.tasks.list({ kinds: ["tool"] })).items
  if (!task) throw new Error("the call has become no task")
  await eventually("the result was reported", () => {
    clock.advance(5)
    return agent.model.callCount === 3
  })
  const ended = (await agent.runtime.tasks.result(task.id, { waitMs: 60_000 })).task
  expect(ended).toMatchObject({ status: "completed", patch: { payload: { cake: "golden" } } })
})
