import { describe, expect, test } from "vitest"
import { systemClock } from "../../src/base/clock.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { eventually } from "../support/eventually.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { lastSaid } from "../support/session/open-agent.ts"
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

const DAY_MS = 24 * 60 * 60_000

describe("a report that cannot be made", () => {
  test("because the model fails becomes a plain notification, and nothing is lost", async () => {
    const script: ScriptStep[] = [starts("bread"), "It runs.", { error: { code: "model_refused" } }, "I know."]
    const agent = await openReporting(script)
    await agent.session.send("bake")
    await finishNext(agent, 1, "a loaf")
    await eventually("the person is told", () => notificationsOf(agent).length === 1)
    await agent.session.reported()
    expect(notificationsOf(agent)[0]).toContain("a loaf")
    expect(reportsOf(agent)).toEqual([])
    await agent.session.send("well?")
    const told =
      agent.model.requests
        .at(-1)
        ?.messages.map(({ parts }) => JSON.stringify(parts))
        .join("\n") ?? ""
    expect(told.split("a loaf")).toHaveLength(2)
  })

  test("in its time is stopped, and becomes a plain notification", async () => {
    const clock = createManualClock()
    const gate = createGate()
    const script = [starts("bread"), "It runs.", () => ({ gate: gate.pass(), text: "too late" }), "I know."]
    const agent = await openReporting(script, { clock })
    await agent.session.send("bake")
    await finishNext(agent, 1, "a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    const earliest = clock.now()
    await advanceUntil(clock, "the report is asked for", () => agent.model.callCount === 3)
    const latest = clock.now()
    clock.advance(earliest + 59_000 - latest)
    expect(notificationsOf(agent)).toEqual([])
    clock.advance(latest + 60_000 - clock.now())
    await eventually("the person is told", () => notificationsOf(agent).length === 1)
    await reported(agent, clock)
    expect(agent.session.turns().at(-1)?.outcome).toBe("stopped")
    const turn = await agent.runtime.tasks.get(agent.session.turns().at(-1)?.turn ?? "")
    expect(turn.task).toMatchObject({
      status: "cancelled",
      stop: { by: "limit", reason: "it took longer than 60000 ms" },
    })
    await agent.session.send("well?")
    expect(JSON.stringify(agent.model.requests.at(-1)?.messages).split("a loaf")).toHaveLength(2)
  })

  test("is shown to nobody when the configuration says so", async () => {
    const script: ScriptStep[] = [starts("bread"), "It runs.", { error: { code: "model_refused" } }]
    const agent = await openReporting(script, { reports: { fallbackNotification: false } })
    await agent.session.send("bake")
    await finishNext(agent, 1, "a loaf")
    await eventually("the report fails", () => eventsOf(agent, "turn.completed").length === 2)
    await agent.session.reported()
    expect(notificationsOf(agent)).toEqual([])
  })
})

test("an end of more than a week ago wakes nobody: the person is told, and the model with the next message", async () => {
  const clock = createManualClock()
  const agent = await openReporting([starts("bread"), "It runs.", "So old."], { clock, reports: { enabled: false } })
  await agent.session.send("bake")
  await finishNext(agent, 1, "a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  clock.jump(8 * DAY_MS)
  agent.session.enableReports()
  await reported(agent, clock)
  expect(notificationsOf(agent)).toEqual([expect.stringContaining("a loaf")])
  expect(agent.model.callCount).toBe(2)
  await agent.session.send("well?")
  expect(lastSaid(agent.model, -1)).toContain("| a loaf")
})

test("an end is as old as the store says: a machine whose clock is a month ahead reports what ended just now", async () => {
  const engine = await openTestEngine(createFolder())
  const clock = { ...systemClock, now: () => Date.now() + 30 * DAY_MS }
  const agent = await openReporting([starts("bread"), "It runs.", "The bread is ready."], { engine, clock })
  await agent.session.send("bake")
  await finishNext(agent, 1, "a loaf")
  await waitForReports(agent, 1)
  expect(reportsOf(agent)).toEqual(["The bread is ready."])
})
