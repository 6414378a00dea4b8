import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { PLACES } from "./support/open-agent.ts"
import { openSubagents } from "./support/open-subagents.ts"
import { endOf, startAgent } from "./support/start-agent.ts"

for (const [where, isKept] of PLACES) {
  test(`the task of an agent says how many tools it called, the last three, what it used, and what it does (${where})`, async () => {
    const clock = createManualClock()
    const gated = createGatedTool()
    const read = { calls: [{ tool: "read" }] }
    const write = { calls: [{ tool: "write" }] }
    const opened = await openSubagents({
      isKept,
      clock,
      main: [],
      tools: [gated.tool],
      below: [read, read, write, { calls: [{ tool: "gated" }] }, "Done."],
    })
    const { runtime } = opened
    const { id } = await startAgent(opened)
    await gated.call(1)
    const at = clock.now()
    clock.advance(1_000)
    const progress = await eventually("it is stored", async () => {
      const { task } = await runtime.tasks.get(id)
      return task.progress?.activity?.toolCalls === 4 && task.progress
    })
    expect(progress).toMatchObject({
      phase: "using gated",
      line: expect.stringContaining("worker works in session"),
      activity: { toolCalls: 4, lastTools: ["read", "write", "gated"], tokens: 60, at },
    })
    ;(await gated.call(1)).finish()
    const task = await endOf(opened, { id })
    expect(task.progress?.activity).toMatchObject({ toolCalls: 4, tokens: 75 })
  })
}
