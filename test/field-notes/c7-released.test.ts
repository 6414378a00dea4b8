import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { call } from "../support/background/open-background.ts"
import { openMeanwhile, start } from "../support/background/open-meanwhile.ts"
import { PLACES } from "../support/session/open-agent.ts"
import { openSubagents, requestsOf } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"

test.each(PLACES)(
  "C7. Cancelling a group releases whoever waits for it: a turn that waits in a call (%s)",
  async (_, isKept) => {
    const members = { calls: [start("one", { group: "both" }), start("two", { group: "both" })] }
    const agent = await openMeanwhile([members, call("wait_for", { group: "both" }), "It was cancelled."], { isKept })
    const turn = agent.session.send("do both and wait")
    await agent.gated.call(2)
    await eventually("it waits", () => agent.model.callCount === 2)
    await agent.runtime.tasks.groups.cancel("both", { reason: "not needed" }, { session: agent.session.id })
    expect((await turn).text).toBe("It was cancelled.")
    expect(agent.answers().at(-1)).toMatchObject({ reason: "cancelled" })
    expect([(await agent.ended(1)).status, (await agent.ended(2)).status]).toEqual(["cancelled", "cancelled"])
  },
)

test("C7. A retained turn at concurrency 1 does not deadlock: of a conversation", async () => {
  const background = { maxConcurrentTasks: 1 }
  const agent = await openMeanwhile([{ calls: [start("slow", { wait: true })] }, "Here it is."], { background })
  const turn = agent.session.send("do it and stay")
  ;(await agent.gated.call(1)).finish("the slow result")
  expect((await turn).text).toBe("Here it is.")
  expect(JSON.stringify(agent.answers())).toContain("the slow result")
})

test("C7. A retained turn at concurrency 1 does not deadlock: of an agent that has the only slot", async () => {
  const gated = createGatedTool()
  const opened = await openSubagents({
    main: [],
    below: [{ calls: [start("slow", { wait: true })] }, "Here it is."],
    tools: [gated.tool],
    plugins: [createBackgroundPlugin()],
    background: { maxConcurrentTasks: 1 },
    permissions: allowAll,
  })
  const agent = await startAgent(opened)
  ;(await gated.call(1)).finish("the slow result")
  expect(await endOf(opened, agent)).toMatchObject({ patch: { payload: { answer: "Here it is." } } })
  expect(JSON.stringify(requestsOf(opened.provider, "below")[1]?.messages.at(-1))).toContain("the slow result")
})
