import { expect, test } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a call that is cancelled while a hook thinks about it does not begin", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const asked = Promise.withResolvers<void>()
  const decided = Promise.withResolvers<{ decision: "allow" }>()
  await meanwhile.plugins.register(
    definePlugin({
      kind: "tool",
      name: "thinker",
      tools: [],
      beforeToolCall() {
        asked.resolve()
        return decided.promise
      },
    }),
  )
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  await asked.promise
  execution.cancel({ by: "person", reason: "it is not wanted" })
  decided.resolve({ decision: "allow" })
  expect(await execution.answer).toEqual({
    outcome: "cancelled",
    by: "person",
    reason: "it is not wanted",
    survivors: [],
  })
  expect(gated.calls).toEqual([])
  expect((await meanwhile.tasks.list({})).items).toEqual([])
})
