import { describe, expect, test } from "vitest"
import { textOf } from "../../src/plugin/message.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { type BackgroundOptions, call, openBackground } from "../support/background/open-background.ts"

const MANY = 90
const LIMITS = { maxConcurrentTasks: MANY, maxConcurrentPerPlugin: MANY, maxConcurrentPerSession: MANY }

type Agent = Awaited<ReturnType<typeof openBackground>>
/** What the model of the conversation has read, of tool results and notices too. */
const readBy = ({ session }: Agent): string =>
  session
    .history()
    .map((message) => (message.role === "tool" ? resultsOf([message]).map(resultText).join("\n") : textOf(message)))
    .join("\n")

const toMarks = (count: number): string[] => Array.from({ length: count }, (_, index) => `<mark ${index}>`)

/** Starts a task for each value, lets the model wait for all of them, and then says something. */
async function waitForAll(values: readonly string[], wait: ReturnType<typeof call>, options: BackgroundOptions = {}) {
  const starts = values.map((value) => ({
    tool: "start_task",
    input: { tool: "echo", input: { value }, group: "all" },
  }))
  const script = [{ calls: starts }, wait, "They are done.", "I see."]
  const agent = await openBackground(script, { vocabulary: "meanwhile", tools: [echo], background: LIMITS, ...options })
  await agent.session.send("all of them")
  const answer = resultText(resultsOf(agent.session.history()).at(-1))
  await agent.session.send("and?")
  return { agent, answer }
}

describe("results that are waited for together", () => {
  test("are all read in the answer, the long ones cut to the same length", async () => {
    const marks = toMarks(3)
    const values = marks.map((mark) => `${mark} ${"x".repeat(20_000)}`)
    const { answer, agent } = await waitForAll(values, call("wait_for", { group: "all" }))
    for (const mark of marks) expect(answer).toContain(mark)
    expect(answer.length).toBeLessThan(30_000)
    expect(answer).toContain("get_task shows one in full")
    expect(await agent.session.trajectory.unconsumed()).toEqual(new Map())
  })

  test("are told by themselves if the answer has no room for them, each once", async () => {
    const marks = toMarks(MANY)
    const values = marks.map((mark) => `${mark} ${"x".repeat(300)}`)
    const { answer, agent } = await waitForAll(values, call("wait_for", { group: "all" }))
    expect(answer).toContain("come by themselves")
    const read = readBy(agent)
    for (const mark of marks) expect(read.split(mark)).toHaveLength(2)
  })

  test.each([1_000, 5_000])("are each read once if an answer holds %d characters", async (characters) => {
    const marks = toMarks(12)
    const values = marks.map((mark) => `${"x".repeat(2_000)} ${mark}`)
    const agent = { toolResultLimitCharacters: characters }
    const waited = await waitForAll(values, call("wait_for", { group: "all" }), { agent })
    expect(waited.answer.length).toBeLessThanOrEqual(characters)
    expect(waited.answer).toContain("come by themselves")
    const read = readBy(waited.agent)
    for (const mark of marks) expect(read.split(mark)).toHaveLength(2)
  })

  test("fill an answer that is allowed to be long", async () => {
    const values = toMarks(10).map((mark) => `${mark} ${"x".repeat(6_000)}`)
    const agent = { toolResultLimitCharacters: 120_000 }
    const { answer } = await waitForAll(values, call("wait_for", { group: "all" }), { agent })
    expect(answer.length).toBeGreaterThan(60_000)
    expect(answer).not.toContain("Some results are cut")
  })

  test("are not used up by a turn that was kept open for them but ended first", async () => {
    const gated = createGatedTool({ obeys: true })
    const toStart = (name: string, more = {}) => ({
      tool: "start_task",
      input: { tool: "gated", input: { name }, group: "pair", ...more },
    })
    const script = [
      { calls: [toStart("one")] },
      { calls: [toStart("two", { seal: true, wait: true })] },
      "Later.",
      "I see.",
    ]
    const background = { retainTurnTimeoutMs: 50 }
    const agent = await openBackground(script, { vocabulary: "meanwhile", tools: [gated.tool], background })
    const turn = agent.session.send("both")
    ;(await gated.call(1)).finish("<first>")
    await turn
    await agent.ended(1)
    ;(await gated.call(2)).finish("<second>")
    await agent.ended(2)
    await agent.session.send("and?")
    for (const mark of ["<first>", "<second>"]) expect(readBy(agent).split(mark)).toHaveLength(2)
  })
})
