import { describe, expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { textOf } from "../../src/plugin/message.ts"
import type { Operation } from "../../src/task/operation.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { createGatedTool } from "../support/tools.ts"
import { createGate } from "../support/session/gate.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { lastSaid, openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"
import { openReporting, starts, tasksOf, waitForEnds } from "../support/session/reporting.ts"
import { add } from "../support/session/test-tools.ts"

const OFF = { reports: { enabled: false } } as const
const adding = { calls: [{ tool: "add", input: { a: 1, b: 2 } }] }

describe.each(PLACES)("what ends during a turn, %s", (_, isKept) => {
  test("is handed over at the next tool boundary, behind the answers, and once", async () => {
    const gate = createGate()
    const script = [starts("bread"), () => ({ gate: gate.pass(), ...adding }), "I know of the bread.", "Nothing new."]
    const agent = await openReporting(script, { ...OFF, isKept, tools: [add] })
    const sending = agent.session.send("bake")
    await gate.reached
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    gate.open()
    expect((await sending).text).toBe("I know of the bread.")
    const [, , , , , news] = agent.session.history()
    expect(news?.role).toBe("user")
    expect(news && textOf(news)).toMatch(/^\[Meanwhile: background tasks .*\n.*\n\| a loaf\n\[End of the notices\.\]$/)
    expect(findHistoryProblems(agent.session.history())).toEqual([])
    await agent.session.send("and now?")
    expect(lastSaid(agent.model, -1)).toBe("and now?")
  })
})

test("what is handed over is in the same commit as the answers, and used in it", async () => {
  const gate = createGate()
  const script = [starts("bread"), () => ({ gate: gate.pass(), ...adding }), "I know."]
  const agent = await openReporting(script, { ...OFF, tools: [add] })
  const telling: (readonly Operation[])[] = []
  interceptCommits({ engine: agent.runtime.engine }, (operations, commit) => {
    if (JSON.stringify(operations).includes("[End of the notices.]")) telling.push(operations)
    return commit(operations)
  })
  const sending = agent.session.send("bake")
  await gate.reached
  ;(await agent.gated.call(1)).finish("a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  gate.open()
  await sending
  expect(telling.map((operations) => operations.map(({ op }) => op))).toEqual([
    ["session.update", "notice.consume", "step.finish"],
  ])
})

test("a turn in which nothing has ended reads no notices after its beginning, and of a new session none", async () => {
  const turn = [adding, adding, adding, "done"]
  const agent = await openAgent([...turn, ...turn], { isKept: true, tools: [add] })
  const { store } = agent.runtime.engine
  const { notices } = store
  let reads = 0
  Object.assign(store, {
    notices: (...asked: Parameters<typeof notices>) => {
      reads += 1
      return notices(...asked)
    },
  })
  await agent.session.send("count")
  expect(reads).toBe(0)
  await agent.session.close()
  const again = await agent.runtime.openSession(agent.session.id)
  await again.send("count")
  expect(reads).toBe(1)
})

test("a turn that is being stopped is told nothing more: it comes with the next message", async () => {
  const held = createGatedTool({ name: "held", background: { mode: "never" }, obeys: true })
  const script = [starts("bread"), { calls: [{ tool: "held" }] }, "So it is."]
  const agent = await openReporting(script, { ...OFF, tools: [held.tool] })
  const sending = agent.session.send("bake")
  await held.call(1)
  ;(await agent.gated.call(1)).finish("a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  agent.session.stop()
  expect((await sending).outcome).toBe("stopped")
  await agent.session.send("well?")
  expect(lastSaid(agent.model, -1)).toContain("| a loaf")
  expect(JSON.stringify(agent.session.history()).split("| a loaf")).toHaveLength(2)
})

test("tasks say which message asked for them, and those of one message are one batch", async () => {
  const agent = await openReporting([starts("one", "two"), starts("three"), "They run."], OFF)
  await agent.session.send("start")
  const { items } = await agent.runtime.tasks.list({ session: agent.session.id, kinds: ["tool"] })
  const [one, two, three] = items.toReversed()
  expect(one?.parentMessage).toBe(`${agent.session.id}/2`)
  expect([one?.batch, two?.batch, three?.batch]).toEqual([
    `${agent.session.id}/2`,
    `${agent.session.id}/2`,
    `${agent.session.id}/4`,
  ])
})

describe("what is told is of this session alone", () => {
  test("and not of another one, also at a boundary", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", adding, "done"], { ...OFF, tools: [add] })
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    const other = await agent.runtime.createSession()
    await other.send("count")
    expect(JSON.stringify(other.history())).not.toContain("a loaf")
  })

  test("and a task that outlives its deleted session is told to nobody", async () => {
    const forever = createGatedTool({ background: { mode: "always" }, obeys: true })
    const starter = createScriptedModel(["hello", "hello again"])
    const { runtime } = await openScripted(starter, { isKept: true, tools: [forever.tool], reports: { enabled: true } })
    const session = await runtime.createSession()
    await session.send("hello")
    const task = await runtime.tasks.start({ tool: "gated", input: {}, session: session.id, lifetime: "forever" })
    const call = await forever.call(1)
    await runtime.sessions.delete(session.id)
    call.finish("too late")
    await runtime.tasks.result(task.id, { waitMs: 30_000 })
    const other = await runtime.createSession()
    await other.send("anything?")
    expect(lastSaid(starter, -1)).toBe("anything?")
    expect(starter.callCount).toBe(2)
  })
})

test("a new message is known to the turn that runs, and to none before it", async () => {
  const signals: AbortSignal[] = []
  const gate = createGate()
  const looking = {
    ...add,
    name: "look",
    run: async (_input: unknown, { sessions }: { sessions: { newMessage: AbortSignal } }) => {
      signals.push(sessions.newMessage)
      await gate.pass()
      return null
    },
  } as typeof add
  const look = { calls: [{ tool: "look", input: { a: 1, b: 1 } }] }
  const agent = await openAgent([look, "first", look, "second"], { isKept: true, tools: [looking] })
  const first = agent.session.send("look")
  await gate.reached
  expect(signals[0]?.aborted).toBe(false)
  const second = agent.session.send("and again")
  expect(signals[0]?.aborted).toBe(true)
  gate.open()
  await Promise.all([first, second])
  expect(signals[1]?.aborted).toBe(false)
})
