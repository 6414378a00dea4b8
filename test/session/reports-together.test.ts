import { describe, expect, test } from "vitest"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { GcPlugin } from "../../src/plugin/gc-plugin.ts"
import { createGate } from "../support/session/gate.ts"
import { lastSaid, openScripted } from "../support/session/open-agent.ts"
import {
  eventsOf,
  MANY_AT_ONCE,
  openReporting,
  reported,
  type ReportingAgent,
  reportsOf,
  starts,
  tasksOf,
  textsOf,
  waitForEnds,
  waitForReports,
} from "../support/session/reporting.ts"

const COUNT = 19
const NAMES = Array.from({ length: COUNT }, (_, index) => `part ${index + 1}`)

async function startAll(agent: ReportingAgent): Promise<void> {
  await agent.session.send("start them")
  await agent.gated.call(COUNT)
}

/** Ends all tasks within a millisecond. */
function finishAll({ gated }: ReportingAgent): void {
  for (const { input, finish } of gated.calls) finish(`done with ${input.name}`)
}

/** How often the conversation says of each task that it has ended. */
async function countTold(agent: ReportingAgent): Promise<readonly number[]> {
  const ids = await tasksOf(agent)
  const told = textsOf(agent.session).join("\n")
  return ids.map((id) => told.split(`Task ${id} (`).length - 1)
}

const ONCE_EACH = NAMES.map(() => 1)
const toOptions = (clock: ManualClock) => ({ background: MANY_AT_ONCE, clock })

describe("C2: N tasks that finish within a millisecond: every one is reported, once, in one turn", () => {
  test("while the session is idle", async () => {
    const clock = createManualClock()
    const agent = await openReporting([starts(...NAMES), "They run.", "All done."], toOptions(clock))
    await startAll(agent)
    finishAll(agent)
    await waitForEnds(agent, await tasksOf(agent))
    await reported(agent, clock)
    expect(reportsOf(agent)).toEqual(["All done."])
    expect(await countTold(agent)).toEqual(ONCE_EACH)
    expect(
      eventsOf(agent, "report.started")[0]
        ?.tasks.map(({ title }) => title)
        .toSorted(),
    ).toEqual(NAMES.toSorted())
  })

  test("while it is streaming", async () => {
    const gate = createGate()
    const script = [starts(...NAMES), "They run.", () => ({ gate: gate.pass(), text: "We talked." }), "All done."]
    const clock = createManualClock()
    const agent = await openReporting(script, toOptions(clock))
    await startAll(agent)
    const talking = agent.session.send("hello")
    await gate.reached
    finishAll(agent)
    await waitForEnds(agent, await tasksOf(agent))
    clock.advance(1_000)
    expect(agent.model.callCount).toBe(3)
    gate.open()
    expect((await talking).text).toBe("We talked.")
    await reported(agent, clock)
    expect(reportsOf(agent)).toEqual(["All done."])
    expect(await countTold(agent)).toEqual(ONCE_EACH)
  })

  test("while it is compacting", async () => {
    const gate = createGate()
    const gc: GcPlugin = definePlugin({
      kind: "gc",
      name: "gated_gc",
      shouldCollect: () => ({ isDue: false }),
      async collect(messages) {
        await gate.pass()
        return { messages, removedMessages: 0, summary: "nothing" }
      },
    })
    const clock = createManualClock()
    const agent = await openReporting([starts(...NAMES), "They run.", "All done."], toOptions(clock))
    await startAll(agent)
    agent.session.setGc(gc)
    const collecting = agent.session.collect()
    await gate.reached
    finishAll(agent)
    await waitForEnds(agent, await tasksOf(agent))
    clock.advance(1_000)
    expect(agent.model.callCount).toBe(2)
    gate.open()
    await collecting
    await reported(agent, clock)
    expect(reportsOf(agent)).toEqual(["All done."])
    expect(await countTold(agent)).toEqual(ONCE_EACH)
  })

  test("while it is closing", async () => {
    // With this clock the reporter does not look before the runtime closes.
    const agent = await openReporting([starts(...NAMES), "They run."], toOptions(createManualClock(Date.now())))
    await startAll(agent)
    const ids = await tasksOf(agent)
    finishAll(agent)
    await waitForEnds(agent, ids)
    await agent.runtime.close()
    const model = createScriptedModel(["All done."])
    const { runtime } = await openScripted(model, {
      isKept: true,
      folder: agent.folder,
      reports: { enabled: true },
      background: MANY_AT_ONCE,
    })
    const session = await runtime.openSession(agent.session.id)
    await session.reported()
    expect([agent.model.callCount, model.callCount]).toEqual([2, 1])
    const told = textsOf(session).join("\n")
    expect(ids.map((id) => told.split(`Task ${id} (`).length - 1)).toEqual(ONCE_EACH)
  })
})

describe("C1: a task that finishes before anyone subscribes is still reported", () => {
  test("before reports are enabled", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", "It is ready."], { reports: { enabled: false } })
    await agent.session.send("bake")
    const call = await agent.gated.call(1)
    call.finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    expect(agent.model.callCount).toBe(2)
    agent.session.enableReports()
    expect(await waitForReports(agent, 1)).toEqual(["It is ready."])
  })

  test("before its session is opened in the process that reports", async () => {
    const agent = await openReporting([starts("bread"), "It runs."], { reports: { enabled: false } })
    await agent.session.send("bake")
    const call = await agent.gated.call(1)
    call.finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    await agent.runtime.close()
    const model = createScriptedModel(["It is ready."])
    const { runtime } = await openScripted(model, { isKept: true, folder: agent.folder, reports: { enabled: true } })
    const session = await runtime.openSession(agent.session.id)
    await session.reported()
    expect(lastSaid(model, 0)).toContain("a loaf")
  })
})

test("C8: a full report queue coalesces, never drops", async () => {
  const names = Array.from({ length: 12 }, (_, index) => `part ${index + 1}`)
  const gate = createGate()
  const texts: string[] = []
  const agent = await openReporting([starts(...names), "They run.", "You talked."], {
    background: MANY_AT_ONCE,
    reports: { enabled: false, maxQueued: 2 },
  })
  agent.session.enableReports({
    async generator({ taskIds, resultsText }) {
      if (texts.length === 0) await gate.pass()
      texts.push(resultsText)
      return `about ${taskIds.length} tasks`
    },
  })
  await agent.session.send("start them")
  await agent.gated.call(names.length)
  ;(await agent.gated.call(1)).finish("first")
  await gate.reached
  for (const { finish } of agent.gated.calls.slice(1)) finish("later")
  await waitForEnds(agent, await tasksOf(agent))
  gate.open()
  await waitForReports(agent, 2)
  await agent.session.reported()
  expect((await agent.session.trajectory.unconsumed()).size).toBe(0)
  expect(reportsOf(agent)).toEqual(["about 1 tasks", "about 11 tasks"])
  const told = texts.join("\n")
  expect((await tasksOf(agent)).map((id) => told.split(`Task ${id} (`).length - 1)).toEqual(names.map(() => 1))
})
