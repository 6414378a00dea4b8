import { describe, expect, test } from "vitest"
import type { Clock } from "../../src/base/clock.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { ModelRequest } from "../../src/plugin/model.ts"
import type { PersonChannel } from "../../src/plugin/person-port.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createGate } from "../support/session/gate.ts"
import { lastSaid, resultsOf, resultText } from "../support/session/open-agent.ts"
import {
  advanceUntil,
  eventsOf,
  finishNext,
  notificationsOf,
  openReporting,
  reported,
  reportsOf,
  starts,
  tasksOf,
  waitForEnds,
  waitForReports,
} from "../support/session/reporting.ts"

const MINUTE_MS = 60_000

test("C5: a session that stays busy for hours still gets its notices: deferral has a ceiling", async () => {
  const manual = createManualClock()
  let timers: number[] = []
  const schedule: Clock["schedule"] = (delayMs, callback) => {
    timers.push(delayMs)
    return manual.schedule(delayMs, callback)
  }
  const clock = { ...manual, schedule }
  const gate = createGate()
  const script = [starts("bread"), "It runs.", () => ({ gate: gate.pass(), text: "At last." }), "The bread is ready."]
  const agent = await openReporting(script, { clock })
  const { session } = agent
  await session.send("bake")
  const talking = session.send("think for hours")
  await gate.reached
  await finishNext(agent, 1, "a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  timers = []
  await advanceUntil(clock, "it is put off", () => timers.includes(10 * MINUTE_MS))
  clock.advance(9 * MINUTE_MS)
  expect(notificationsOf(agent)).toEqual([])
  clock.advance(MINUTE_MS)
  await eventually("the person is told", () => notificationsOf(agent).length === 1)
  expect(notificationsOf(agent)[0]).toMatch(/^Task [0-9a-f]{8} \(bread\): completed\. a loaf$/)
  for (let hour = 0; hour < 3; hour++) clock.advance(60 * MINUTE_MS)
  gate.open()
  await talking
  await reported(agent, clock)
  expect(notificationsOf(agent)).toHaveLength(1)
  expect(reportsOf(agent)).toEqual(["The bread is ready."])
})

/** A model that starts another task, whatever it is told. */
function* startForEver(): Generator<ScriptStep> {
  for (;;) yield ({ messages }: ModelRequest) => (messages.at(-1)?.role === "tool" ? "Started." : starts("again"))
}

describe("C11: starting tasks from reports is bounded by hops and wakes", () => {
  test("a loop of task-starts-task ends at its last hop, where nothing is started", async () => {
    const agent = await openReporting(startForEver())
    await agent.session.send("begin")
    await finishNext(agent, 1)
    await waitForReports(agent, 1)
    await finishNext(agent, 2)
    await waitForReports(agent, 2)
    await agent.session.reported()
    const [refused] = resultsOf(agent.session.history()).toReversed()
    expect(refused?.isError).toBe(true)
    expect(resultText(refused)).toContain("this is report 2 of 2 that followed from one another")
    expect(agent.gated.calls).toHaveLength(2)
    expect(reportsOf(agent)).toHaveLength(2)
  })

  test("what moves to the background at the last hop ends in a plain notification", async () => {
    const slow = createGatedTool({ name: "slow", background: { mode: "after", ms: 60_000 } })
    const script: ScriptStep[] = [
      starts("one"),
      "It runs.",
      { calls: [{ tool: "slow" }] },
      "It takes long.",
      "So it is.",
    ]
    const agent = await openReporting(script, { tools: [slow.tool], reports: { maxHops: 1 } })
    const { session } = agent
    await session.send("begin")
    await finishNext(agent, 1)
    const call = await slow.call(1)
    const promoted = await session.promote()
    expect(promoted).toHaveLength(1)
    await waitForReports(agent, 1)
    call.finish("slowly done")
    await eventually("the person is told", () => notificationsOf(agent).length === 1)
    await session.reported()
    expect(notificationsOf(agent)).toEqual([expect.stringContaining("slowly done")])
    expect(reportsOf(agent)).toEqual(["It takes long."])
    await session.send("and?")
    expect(lastSaid(agent.model, -1)).toContain("slowly done")
  })

  test("a loop of task-starts-task ends in a plain notification when nobody says anything", async () => {
    const agent = await openReporting(startForEver(), { reports: { maxHops: 100 } })
    await agent.session.send("begin")
    for (let number = 1; number <= 3; number++) {
      await finishNext(agent, number)
      await waitForReports(agent, number)
    }
    await finishNext(agent, 4, "the fourth")
    await eventually("the person is told", () => notificationsOf(agent).length > 0)
    await agent.session.reported()
    expect(reportsOf(agent)).toHaveLength(3)
    expect(notificationsOf(agent)).toEqual([expect.stringContaining("the fourth")])
    // The model is told of the fourth end with the next message, and may report again after it.
    await agent.session.send("go on")
    expect(lastSaid(agent.model, -2)).toContain("| the fourth")
    await finishNext(agent, 5)
    expect(await waitForReports(agent, 4)).toHaveLength(4)
    const [shown] = eventsOf(agent, "notification.shown")
    expect(shown?.why).toBe("after 3 reports in a row without a word from you")
  })
})

test("a question to the person is not interrupted by a report", async () => {
  const clock = createManualClock()
  const gate = createGate()
  const asker = definePlugin({
    kind: "tool",
    name: "asker",
    tools: [],
    userCommands: [
      {
        name: "choose",
        description: "Asks.",
        run: async (_argument, { person }) => JSON.stringify(await person.ask({ kind: "text", text: "Which?" })),
      },
    ],
  })
  const person: PersonChannel = {
    name: "test",
    async ask() {
      await gate.pass()
      return { isAnswered: true, value: "this one", by: "test" }
    },
  }
  const script = [starts("bread"), "It runs.", "The bread is ready."]
  const agent = await openReporting(script, { clock, plugins: [asker], person })
  await agent.session.send("bake")
  const running = agent.session.runCommand("choose")
  await gate.reached
  await finishNext(agent, 1, "a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  clock.advance(1_000)
  expect(agent.model.callCount).toBe(2)
  gate.open()
  expect(await running).toContain("this one")
  await reported(agent, clock)
  expect(reportsOf(agent)).toEqual(["The bread is ready."])
})
