import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { Bus } from "../../src/task/bus.ts"
import type { Engine } from "../../src/task/engine.ts"
import type { Operation } from "../../src/task/operation.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { createGatedTool } from "../support/tools.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted } from "../support/session/open-agent.ts"
import {
  advanceUntil,
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

const MINUTE_MS = 60_000

test("C13: waiting half an hour for a task costs zero model calls", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ background: { mode: "always" }, timeoutMs: 60 * MINUTE_MS })
  const calls = Array.from({ length: 4 }, () => ({ tool: "gated" }))
  const agent = await openAgent([{ calls }, "They run.", "All done."], {
    isKept: true,
    clock,
    tools: [gated.tool],
    reports: { enabled: true },
  })
  await agent.session.send("start them")
  await gated.call(4)
  for (let minute = 0; minute < 30; minute++) clock.advance(MINUTE_MS)
  expect(agent.model.callCount).toBe(2)
  for (const { finish } of gated.calls) finish("done")
  await waitForEnds(agent, await tasksOf(agent))
  await reported(agent, clock)
  expect(agent.model.callCount).toBe(3)
  expect(reportsOf(agent)).toEqual(["All done."])
})

/** True for the commit that ends a turn. */
function endsTurn(operations: readonly Operation[]): boolean {
  return operations.some(({ op }) => op === "session.update") && operations.some(({ op }) => op === "task.apply")
}

/** Ends the task in the middle of the turn's own end. */
function endDuringTurn(agent: ReportingAgent, order: "before" | "after"): void {
  let isDone = false
  interceptCommits({ engine: agent.runtime.engine }, async (operations, commit) => {
    if (isDone || !endsTurn(operations)) return commit(operations)
    isDone = true
    const answers = order === "after" ? await commit(operations) : undefined
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    return answers ?? commit(operations)
  })
}

test.each(["before", "after"] as const)(
  "C17: a notice inserted while the turn ends wakes the session: it is never left idle with a notice pending (%s)",
  async (order) => {
    const agent = await openReporting([starts("bread"), "It runs.", "The bread is ready."])
    const sending = agent.session.send("bake")
    await agent.gated.call(1)
    endDuringTurn(agent, order)
    await sending
    expect(await waitForReports(agent, 1)).toEqual(["The bread is ready."])
    expect((await agent.session.trajectory.unconsumed()).size).toBe(0)
  },
)

/** An engine whose bus drops wake-ups about sessions. */
function createDeafEngine(engine: Engine): Engine {
  const subscribe: Bus["subscribe"] = (listener) =>
    engine.bus.subscribe((wake) => {
      if (wake.about !== "session") listener(wake)
    })
  return { ...engine, bus: { ...engine.bus, subscribe } }
}

test("D4: a missed event is caught by the fallback within its interval, and produces one notice, not four", async () => {
  const clock = createManualClock()
  const engine = createDeafEngine(await openTestEngine(createFolder(), { clock }))
  const agent = await openReporting([starts("bread"), "It runs.", "The bread is ready."], { clock, engine })
  await agent.session.send("bake")
  await reported(agent, clock)
  ;(await agent.gated.call(1)).finish("a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  expect(agent.model.callCount).toBe(2)
  clock.advance(5_000)
  await advanceUntil(clock, "it is reported", () => reportsOf(agent).length > 0)
  for (let scan = 0; scan < 4; scan++) clock.advance(5_000)
  await reported(agent, clock)
  expect(reportsOf(agent)).toEqual(["The bread is ready."])
  expect(textsOf(agent.session).join("\n").split("| Summary: a loaf")).toHaveLength(2)
})

test("results of a session that is busy in another process are reported once, when it is idle there", async () => {
  const gate = createGate()
  let isIdle = false
  const told: boolean[] = []
  const ready: ScriptStep = () => {
    told.push(isIdle)
    return "The bread is ready."
  }
  const agent = await openReporting([starts("bread"), "It runs.", ready])
  await agent.session.send("bake")
  const other = createScriptedModel([() => ({ gate: gate.pass(), text: "Hello." })])
  const { runtime } = await openScripted(other, { isKept: true, folder: agent.folder })
  const there = await runtime.openSession(agent.session.id)
  const talking = there.send("hello").then(() => (isIdle = true))
  await gate.reached
  ;(await agent.gated.call(1)).finish("a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  const reporting = agent.session.reported()
  gate.open()
  await Promise.all([talking, reporting])
  expect(reportsOf(agent)).toEqual(["The bread is ready."])
  expect(told).toEqual([true])
})
