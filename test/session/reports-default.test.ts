import { describe, expect, test } from "vitest"
import { lastSaid } from "../support/session/open-agent.ts"
import { eventsOf, openReporting, starts, waitForReports } from "../support/session/reporting.ts"
import { requestGroup, requestSingle } from "../support/session/requested-report.ts"
import { add } from "../support/session/test-tools.ts"

describe("the default report", () => {
  test("001-01: is a full turn with all tools", async () => {
    const script = [starts("bread"), "It runs.", { calls: [{ tool: "add", input: { a: 1, b: 2 } }] }, "It makes three."]
    const agent = await openReporting(script, { tools: [add] })
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    expect(await waitForReports(agent, 1)).toEqual(["It makes three."])
    expect(agent.model.requests[2]?.tools.map(({ name }) => name)).toEqual(["gated", "add"])
    expect(agent.session.turns().at(-1)).toMatchObject({ outcome: "completed", modelCalls: 2, toolCalls: 1 })
  })

  test("001-27: is asked for with the five guidelines", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", "Ready."])
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForReports(agent, 1)
    const prompt = lastSaid(agent.model, -1)
    expect(prompt.split("\n").filter((line) => line.startsWith("- "))).toEqual([
      expect.stringContaining("Relate the findings"),
      expect.stringContaining("conversational"),
      expect.stringContaining("what follows from them"),
      expect.stringContaining("make that connection"),
      expect.stringContaining("Use your tools"),
    ])
    expect(prompt).toContain('Original task: "bread"')
    expect(prompt).toContain("you have all your tools")
  })

  test("001-29: tells a single result with summary, facts, artifacts and next steps, or that it completed", async () => {
    const { request } = await requestSingle()
    const lines = request.resultsText.split("\n")
    expect(lines.slice(1)).toEqual([
      "| Summary: A chest.",
      "| Facts discovered: {",
      '|   "depth": 3',
      "| }",
      "| Suggested next steps: dig, rest",
    ])
    const agent = await openReporting([starts("bread"), "It runs.", "Ready."])
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish(null)
    await waitForReports(agent, 1)
    expect(lastSaid(agent.model, -1)).toContain("| Task completed successfully.")
  })

  test("001-30: tells the results of a group numbered, one for each task", async () => {
    const { request } = await requestGroup()
    const heads = request.resultsText.split("\n").filter((line) => /^\d+\. Task /.test(line))
    expect(heads.map((line) => line.slice(0, 2))).toEqual(["1.", "2."])
  })

  test("001-31: is published with its text, channel, done, proactive, tasks and group", async () => {
    const { agent, request } = await requestGroup()
    expect(eventsOf(agent, "report.published")[0]?.report).toEqual({
      messageId: request.messageId,
      text: "The walls stand.",
      channel: "answer",
      done: true,
      proactive: true,
      taskIds: request.taskIds,
      groupId: request.groupId,
    })
  })

  test("001-32: uses what it tells", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", "Ready."])
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForReports(agent, 1)
    const [notice] = await agent.runtime.engine.store.notices({ session: agent.session.id }, 10)
    expect(notice?.state).toBe("consumed")
  })
})
