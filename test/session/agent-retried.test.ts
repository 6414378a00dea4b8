import { expect, test } from "vitest"
import { textOf } from "../../src/plugin/message.ts"
import { createGatedTool } from "../support/tools.ts"
import { PLACES } from "../support/session/open-agent.ts"
import { openSubagents, requestsOf } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"

test.each(PLACES)(
  "what was said to an agent that was cancelled is told first when it is tried again, heard before or not (%s)",
  async (_, isKept) => {
    const gated = createGatedTool({ obeys: true })
    const work = { calls: [{ tool: "gated" }] }
    const opened = await openSubagents({
      isKept,
      main: [],
      tools: [gated.tool],
      below: [work, work, "Done.", "Done again."],
    })
    const { runtime, provider } = opened
    const { id } = await startAgent(opened)
    const call = await gated.call(1)
    await runtime.tasks.say(id, "Mend the clock first.")
    call.finish("one")
    await gated.call(2)
    await runtime.tasks.say(id, "And oil it.")
    await runtime.tasks.cancel(id)
    expect(await endOf(opened, { id })).toMatchObject({ status: "cancelled" })
    await runtime.tasks.retry(id)
    expect(await endOf(opened, { id })).toMatchObject({ status: "completed", run: 2 })
    const retried = requestsOf(provider, "below")[2]?.messages ?? []
    expect(retried).toHaveLength(1)
    const told = retried[0] ? textOf(retried[0]) : ""
    expect(told).toMatch(/Mend the clock first\.\nAnd oil it\.[\s\S]*Work\./)
    expect(requestsOf(provider, "below")).toHaveLength(3)
  },
)
