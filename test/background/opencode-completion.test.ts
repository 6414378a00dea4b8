import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { lastSaid } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"
import {
  about,
  behindGate,
  launch,
  type OpenDelegation,
  openDelegation,
} from "../support/background/open-delegation.ts"

const SCAN_MS = 5_000
const STEP_MS = 100

/** The agent of the running test: scripts look at its tasks. */
let agent: OpenDelegation
const wait = about(() => agent, "background_output", 1, { block: true })

describe("Detect completion via event", () => {
  test("the end of the requested turn is the task's end, and is seen without any time passing", async () => {
    const clock = createManualClock()
    const { gate, step } = behindGate("3 files.")
    agent = await openDelegation([launch("Count."), wait, "3."], [step], { clock })
    const turn = agent.session.send("count")
    await gate.reached
    const before = clock.now()
    gate.open()
    expect((await turn).text).toBe("3.")
    expect(agent.answers().at(-1)).toMatchObject({ status: "completed" })
    expect(clock.now()).toBe(before)
  })

  test("002-30: the end of a task is told to its session with the whole result, once", async () => {
    const result = `There are 3 files. ${"They are long. ".repeat(100)}The end.`
    agent = await openDelegation([launch("Count."), "It works.", "I see.", "Yes?"], [result])
    await agent.session.send("count")
    await agent.ended(1)
    await agent.session.send("hello")
    expect(lastSaid(agent.model, -1)).toContain("There are 3 files.")
    expect(lastSaid(agent.model, -1)).toContain("The end.")
    await agent.session.send("hello again")
    expect(lastSaid(agent.model, -1)).toBe("hello again")
  })
})

describe("Fallback to polling", () => {
  test("002-29: an end whose event was missed is seen within the interval, and told once", async () => {
    const clock = createManualClock()
    const { gate, step } = behindGate("There are 3 files.")
    agent = await openDelegation([launch("Count."), wait, "3.", "Yes?"], [step], { clock })
    Object.assign(agent.runtime.engine.bus, { subscribe: () => () => {}, subscribeTask: () => () => {} })
    const turn = agent.session.send("count")
    const over = { is: false }
    void turn.finally(() => (over.is = true))
    await gate.reached
    gate.open()
    const ended = await agent.ended(1)
    const endedAt = "endedAt" in ended ? ended.endedAt : 0
    await eventually("the end is seen", () => {
      // No time passes beyond the interval: events under way may still arrive, and nothing new begins.
      clock.advance(over.is || clock.now() - endedAt >= SCAN_MS ? 0 : STEP_MS)
      return over.is
    })
    expect(clock.now() - endedAt).toBeLessThanOrEqual(SCAN_MS + STEP_MS)
    const told = agent.answers().at(-1)
    expect(told).toMatchObject({ status: "completed" })
    expect(JSON.stringify(told?.["result"])).toContain("There are 3 files.")
    await agent.session.send("hello")
    expect(lastSaid(agent.model, -1)).toBe("hello")
  })
})
