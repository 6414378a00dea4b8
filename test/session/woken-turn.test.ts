import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { ScriptedAnswer } from "../../src/builtin/scripted/script.ts"
import type { AgentEvent } from "../../src/plugin/agent-event.ts"
import type { ModelRequest } from "../../src/plugin/model.ts"
import { openAgent } from "../support/session/open-agent.ts"
import { createStandStill, type StandStill } from "../support/stand-still.ts"
import { createGatedTool } from "../support/tools.ts"

const LEASE_SECONDS = 60

/** A conversation whose model says what `play` says, in a process that can stand still. */
async function openWith(
  isLost: boolean,
  play: (request: ModelRequest, standStill: StandStill) => Promise<ScriptedAnswer | string>,
) {
  const clock = createManualClock()
  const gated = createGatedTool()
  const opened = await openAgent([(request) => play(request, standStill), "Again."], {
    isKept: true,
    clock,
    tools: [gated.tool],
    background: { leaseSeconds: LEASE_SECONDS },
  })
  const standStill = createStandStill(opened.runtime, { clock, leaseSeconds: LEASE_SECONDS, isLost })
  return { ...opened, standStill }
}

const toHeard = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "content.delta" || event.type === "agent.output" ? [event.text] : []))

const aborted = ({ signal }: ModelRequest): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener("abort", resolve))

test("a worker that lost its turn in a standstill ends the model's stream, and passes none of it on", async () => {
  const { session, events, model } = await openWith(true, async (request, standStill) => {
    request.onDelta?.({ type: "text", text: "one " })
    standStill.now()
    request.onDelta?.({ type: "text", text: "two " })
    await aborted(request)
    request.onDelta?.({ type: "text", text: "three" })
    return "one two three"
  })
  await expect(session.send("count")).rejects.toMatchObject({ code: "stale_claim" })
  expect(toHeard(events)).toEqual(["one "])
  expect(model.requests[0]?.signal.aborted).toBe(true)
})

test("an answer that is complete when the worker wakes is not heard either, nor counted, if the turn is lost", async () => {
  const { session, events, runtime } = await openWith(true, async (_request, standStill) => {
    standStill.now()
    return "the whole answer"
  })
  await expect(session.send("say it")).rejects.toMatchObject({ code: "stale_claim" })
  expect(toHeard(events)).toEqual([])
  expect(session.turns()).toEqual([])
  expect(runtime.ledger.entries()).toEqual([])
})

test("of a turn that is still the worker's, every piece is passed on, in order, once that is known", async () => {
  const { session, events, standStill } = await openWith(false, async (request, still) => {
    request.onDelta?.({ type: "text", text: "one " })
    still.now()
    return { text: ["two ", "three"] }
  })
  expect((await session.send("count")).text).toBe("two three")
  expect(toHeard(events)).toEqual(["one ", "two ", "three", "two three"])
  expect(standStill.asked).toBeGreaterThan(0)
})
