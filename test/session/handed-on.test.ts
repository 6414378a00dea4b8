import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { PLACES } from "../support/session/open-agent.ts"
import { openSubagents, requestsOf, spawn } from "../support/session/open-subagents.ts"
import { startAgent } from "../support/session/start-agent.ts"
import { createGatedTool, type GatedTool } from "../support/tools.ts"

const SLOW: ScriptStep = { calls: [{ tool: "gated" }] }
const QUICK: ScriptStep = { calls: [{ tool: "quick" }] }
const WAKES = 5

/** An agent that is woken by quick tasks, which end with its turns, until it is woken no more, and then starts a slow one. */
function* usesUpItsWakes(quick: GatedTool): Generator<ScriptStep> {
  for (let wake = 0; wake < WAKES; wake += 1) {
    yield QUICK
    yield async () => {
      const call = await quick.call(wake + 1)
      queueMicrotask(() => call.finish())
      return "And again."
    }
  }
  yield* [SLOW, "That is all."]
}

async function openWith(isKept: boolean, main: readonly ScriptStep[]) {
  const slow = createGatedTool({ background: { mode: "always" }, obeys: true })
  const quick = createGatedTool({ name: "quick", background: { mode: "always" } })
  const below = usesUpItsWakes(quick) as never
  const opened = await openSubagents({
    isKept,
    main,
    below,
    tools: [slow.tool, quick.tool],
    clock: createManualClock(),
  })
  return { ...opened, slow }
}

for (const [where, isKept] of PLACES) {
  test(`a task that outlives its agent is told to the session that asked for the agent, once (${where})`, async () => {
    const opened = await openWith(isKept, ["I see.", "Nothing new."])
    const { runtime, session, provider, slow } = opened
    const { id } = await startAgent(opened)
    const call = await slow.call(1)
    const { task: agent } = await runtime.tasks.result(id, { waitMs: 60_000, consume: true })
    expect(agent.status).toBe("completed")
    const { items } = await runtime.tasks.list({ session: session.id, statuses: ["running"] })
    expect(items).toMatchObject([{ id: call.context.taskId, parentTask: null }])
    call.finish("the slow result")
    await runtime.tasks.result(call.context.taskId, { waitMs: 60_000 })
    await session.send("And?")
    await session.send("And now?")
    const told = requestsOf(provider, "main").map(({ messages }) => JSON.stringify(messages.at(-1)))
    expect(told.map((text) => text.includes("the slow result"))).toEqual([true, false])
  })

  test(`so it is if the agent was called in the foreground (${where})`, async () => {
    const { runtime, session, provider, slow } = await openWith(isKept, [spawn("Work."), "I see.", "It is done."])
    await session.send("Go.")
    const call = await slow.call(1)
    const { items } = await runtime.tasks.list({ session: session.id, statuses: ["running"] })
    expect(items.map(({ id }) => id)).toEqual([call.context.taskId])
    call.finish("the slow result")
    await runtime.tasks.result(call.context.taskId, { waitMs: 60_000 })
    await session.send("And?")
    expect(JSON.stringify(requestsOf(provider, "main").at(-1)?.messages.at(-1))).toContain("the slow result")
  })

  test(`a task below a call in the foreground is below its task once it is promoted (${where})`, async () => {
    const clock = createManualClock()
    const slow = createGatedTool({ background: { mode: "always" }, obeys: true })
    const { runtime, session, provider } = await openSubagents({
      isKept,
      clock,
      main: [spawn("Work."), "It works."],
      below: [SLOW, { gate: new Promise(() => {}) }],
      tools: [slow.tool],
    })
    const sent = session.send("Go.")
    await slow.call(1)
    await eventually("the subagent goes on", () => requestsOf(provider, "below").length === 2)
    clock.advance(10_000)
    await sent
    const [call] = slow.calls
    const [agent] = (await runtime.tasks.list({ kinds: ["agent"] })).items
    if (!call || !agent) throw new Error("The agent and its task were started.")
    expect(call.context.signal.aborted).toBe(false)
    await runtime.tasks.cancel(agent.id)
    const { task } = await runtime.tasks.result(call.context.taskId, { waitMs: 60_000 })
    expect(task).toMatchObject({ status: "cancelled", stop: { by: "parent", parent: agent.id } })
  })
}

test("what an agent in the foreground started is stopped when its turn is stopped, before the next message", async () => {
  const slow = createGatedTool({ background: { mode: "always" }, obeys: true })
  const { runtime, session, provider } = await openSubagents({
    main: [spawn("Work."), "Yes?"],
    below: [SLOW, { gate: new Promise(() => {}) }],
    tools: [slow.tool],
  })
  const sent = session.send("Go.").catch(() => {})
  const call = await slow.call(1)
  await eventually("the subagent goes on", () => requestsOf(provider, "below").length === 2)
  session.stop()
  await sent
  const { task } = await runtime.tasks.result(call.context.taskId, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "cancelled", stop: { by: "parent" } })
  const { items } = await runtime.tasks.list({ kinds: ["turn"] })
  expect(items.every(({ status }) => isTerminal(status))).toBe(true)
})
