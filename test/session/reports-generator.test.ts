import { describe, expect, test } from "vitest"
import { isMeanwhileError } from "../../src/base/error.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ReportGenerator } from "../../src/session/conversation/report-request.ts"
import { lastSaid } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import {
  advanceUntil,
  notificationsOf,
  openReporting,
  reportsOf,
  starts,
  tasksOf,
  textsOf,
  waitForEnds,
} from "../support/session/reporting.ts"
import { OFF, requestSingle } from "../support/session/requested-report.ts"

describe("a generator of one's own", () => {
  test("001-28: writes the report instead of the agent, and both are in the conversation", async () => {
    const { agent } = await requestSingle()
    expect(reportsOf(agent)).toEqual(["I found a chest."])
    expect(agent.model.callCount).toBe(2)
    expect(textsOf(agent.session).slice(-2)).toEqual([expect.stringContaining("| A chest."), "I found a chest."])
    expect((await agent.session.trajectory.unconsumed()).size).toBe(0)
  })

  test.each<[string, () => unknown]>([
    ["fails", () => Promise.reject(new Error("out of paper"))],
    ["returns nothing", () => undefined],
    ["resolves with nothing", async () => undefined],
    ["returns no text", async () => 5],
  ])("that %s leaves a plain notification, and the model hears of it with the next message", async (_, write) => {
    const agent = await openReporting([starts("bread"), "It runs.", "I see."], OFF)
    // A generator in JavaScript may return anything.
    agent.session.enableReports({ generator: write as ReportGenerator })
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    await agent.session.reported()
    expect(notificationsOf(agent)).toEqual([expect.stringContaining("a loaf")])
    await agent.session.send("well?")
    expect(lastSaid(agent.model, -1)).toContain("| a loaf")
    expect(reportsOf(agent)).toEqual([])
  })

  test("does not publish a report about results that the conversation was told meanwhile", async () => {
    const written = Promise.withResolvers<string>()
    const asked = Promise.withResolvers<void>()
    const agent = await openReporting([starts("bread"), "It runs.", "I see."], OFF)
    agent.session.enableReports({
      generator() {
        asked.resolve()
        return written.promise
      },
    })
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await asked.promise
    await agent.session.send("well?")
    expect(lastSaid(agent.model, -1)).toContain("| a loaf")
    written.resolve("The bread is ready.")
    await agent.session.reported()
    expect(reportsOf(agent)).toEqual([])
  })

  test("that takes too long is aborted with a plain error that says so", async () => {
    const clock = createManualClock()
    const asked: AbortSignal[] = []
    const agent = await openReporting([starts("bread"), "It runs."], { ...OFF, clock })
    agent.session.enableReports({
      generator(_, signal) {
        asked.push(signal)
        return new Promise(() => {})
      },
    })
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await advanceUntil(clock, "the report is asked for", () => asked.length === 1)
    clock.advance(60_000)
    await eventually("the person is told", () => notificationsOf(agent).length === 1)
    const reason: unknown = asked[0]?.reason
    expect(reason).toEqual(new Error("it took longer than 60000 ms"))
    expect(isMeanwhileError(reason)).toBe(false)
  })
})
