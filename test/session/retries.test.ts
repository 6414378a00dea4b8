import { describe, expect, test } from "vitest"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import type { AgentEvent } from "../../src/plugin/agent-event.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { type OpenAgent, openAgent, PLACES } from "../support/session/open-agent.ts"

type Retried = Extract<AgentEvent, { type: "model_call.retried" }>

/** Advances the clock past every wait as soon as it begins. */
function passWaits({ session }: OpenAgent, clock: ManualClock): Retried[] {
  const waits: Retried[] = []
  session.on((event) => {
    if (event.type !== "model_call.retried") return
    waits.push(event)
    setImmediate(() => clock.advance(event.afterMs))
  })
  return waits
}

describe.each(PLACES)("an error of the model that may pass, %s", (_, isKept) => {
  test("is waited out as long as the provider asks, no shorter and no longer", async () => {
    const clock = createManualClock()
    const script = [{ error: { code: "rate_limited", retryAfterMs: 7_000 } } as const, "fine"]
    const { session, model } = await openAgent(script, { isKept, clock })
    const retried = Promise.withResolvers<AgentEvent>()
    session.on((event) => event.type === "model_call.retried" && retried.resolve(event))
    const sent = session.send("go")
    expect(await retried.promise).toMatchObject({ attempt: 1, afterMs: 7_000 })
    await new Promise(setImmediate)
    clock.advance(6_999)
    await new Promise(setImmediate)
    expect(model.callCount).toBe(1)
    clock.advance(1)
    expect((await sent).text).toBe("fine")
    expect(model.callCount).toBe(2)
  })

  test("doubles its wait each time, with a spread, and gives up after so many", async () => {
    const clock = createManualClock()
    const script = Array.from({ length: 6 }, () => ({ error: { code: "model_unavailable" } }) as const)
    const agent = await openAgent([...script, "fine"], { isKept, clock })
    const waits = passWaits(agent, clock)
    await expect(agent.session.send("go")).rejects.toMatchObject({ code: "model_unavailable" })
    expect(waits.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
    for (const { attempt, afterMs } of waits) {
      const whole = 1_000 * 2 ** (attempt - 1)
      expect(afterMs).toBeGreaterThanOrEqual(whole / 2)
      expect(afterMs).toBeLessThanOrEqual(whole)
    }
    expect(agent.session.turns().at(-1)?.outcome).toBe("failed")
    expect((await agent.session.send("again")).text).toBe("fine")
    expect(findHistoryProblems(agent.session.history())).toEqual([])
  })

  test("fails at once when the provider asks for more than the limit", async () => {
    const error = { code: "rate_limited", retryAfterMs: 60_001 } as const
    const { session, model, events } = await openAgent([{ error }, "fine"], { isKept, clock: createManualClock() })
    await expect(session.send("go")).rejects.toMatchObject({ code: "rate_limited" })
    expect(model.callCount).toBe(1)
    expect(events.filter(({ type }) => type === "model_call.retried")).toEqual([])
    expect((await session.send("again")).text).toBe("fine")
  })

  test("voids the output of the answer that it cut off", async () => {
    const clock = createManualClock()
    const script = [{ text: ["I am sa"], error: { code: "model_unavailable" } } as const, { text: ["All ", "well."] }]
    const agent = await openAgent(script, { isKept, clock })
    passWaits(agent, clock)
    const said: string[] = []
    const { text } = await agent.session.send("go", {
      onOutput: (_source, chunk, mode) => said.push(`${mode} ${chunk}`),
    })
    expect(text).toBe("All well.")
    expect(said).toEqual(["write I am sa", "write All ", "append well."])
    const types = agent.events.flatMap(({ type }) =>
      type.startsWith("content") || type === "agent.output" ? [type] : [],
    )
    expect(types).toEqual(["content.delta", "content.reset", "content.delta", "content.delta", "agent.output"])
    expect(JSON.stringify(agent.session.history())).not.toContain("I am sa")
  })

  test("voids the reasoning of that answer, too", async () => {
    const clock = createManualClock()
    const script = [{ reasoning: "Hm.", error: { code: "model_unavailable" } } as const, "Well."]
    const agent = await openAgent(script, { isKept, clock })
    passWaits(agent, clock)
    await agent.session.send("go")
    const types = agent.events.flatMap(({ type }) => (type.startsWith("content") ? [type] : []))
    expect(types).toEqual(["content.delta", "content.reset", "content.delta"])
  })
})

test.each(["key_refused", "model_refused", "unknown_model"] as const)(
  "%s is not tried again, said as it is, and leaves a conversation that can go on",
  async (code) => {
    const { session, model, events } = await openAgent([{ error: { code, message: "No." } }, "fine"])
    await expect(session.send("go")).rejects.toMatchObject({ code, message: "No." })
    expect(model.callCount).toBe(1)
    const statuses = events.flatMap((event) => (event.type === "agent.status_changed" ? [event.status] : []))
    expect(statuses).toEqual(["active", "error"])
    expect((await session.send("again")).text).toBe("fine")
    expect(findHistoryProblems(model.requests[1]?.messages ?? [])).toEqual([])
  },
)
