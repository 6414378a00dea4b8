import { expect, test } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
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

test("a call that is cancelled is answered after the grace period if its hook never answers, and never begins", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { stopGraceSeconds: 3 }, clock })
  const decided = Promise.withResolvers<{ decision: "allow" }>()
  await meanwhile.plugins.register(
    definePlugin({ kind: "tool", name: "thinker", tools: [], beforeToolCall: () => decided.promise }),
  )
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  execution.cancel({ by: "person", reason: "it is not wanted" })
  clock.advance(3_000)
  expect(await execution.answer).toMatchObject({ outcome: "cancelled", reason: "it is not wanted" })
  decided.resolve({ decision: "allow" })
  expect(await execution.promote()).toBe(false)
  expect(gated.calls).toEqual([])
})
