import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { LedgerEntry } from "../../src/session/ledger/ledger.ts"
import { createGate } from "../support/session/gate.ts"
import { type OpenAgent, openAgent, PLACES, typesOf } from "../support/session/open-agent.ts"

const models = { "scripted/*": { price: { input: 1, output: 1 } } }

async function readRecord({ runtime, session }: OpenAgent): Promise<readonly LedgerEntry[]> {
  const entries: LedgerEntry[] = []
  for await (const line of runtime.exportLedger({ session: session.id })) entries.push(JSON.parse(line) as LedgerEntry)
  return entries
}

function withoutTime(entries: readonly LedgerEntry[]) {
  return entries.map((entry) => ({ ...entry, at: 0 }))
}

describe.each(PLACES)("a model call without an answer, %s", (_, isKept) => {
  test("that failed is in the ledger with its error; refused at once, it has used nothing", async () => {
    const clock = createManualClock()
    const agent = await openAgent([{ error: { code: "rate_limited", retryAfterMs: 1_000 } }, "fine"], {
      isKept,
      clock,
      models,
    })
    const { session, runtime } = agent
    session.on(({ type }) => void (type === "model_call.retried" && setImmediate(() => clock.advance(1_000))))
    const { accounting } = await session.send("go")
    const [failed, answered] = runtime.ledger.entries()
    expect(failed).toMatchObject({
      turn: accounting.turn,
      purpose: "turn",
      outcome: "failed",
      error: "rate_limited",
      isEstimated: true,
      usage: { inputTokens: 0, outputTokens: 0 },
      costMicros: 0,
    })
    expect(answered).not.toHaveProperty("outcome")
    expect(accounting).toMatchObject({ modelCalls: 1, usage: answered?.usage })
    if (isKept) expect(withoutTime(await readRecord(agent))).toEqual(withoutTime(runtime.ledger.entries()))
  })

  test("that broke off is in the ledger with what it had read and said, and so is its turn's account", async () => {
    const agent = await openAgent([{ text: ["I am sa"], error: { code: "model_refused" } }], { isKept, models })
    const { session, runtime } = agent
    await expect(session.send("go on and on")).rejects.toMatchObject({ code: "model_refused" })
    const [entry] = runtime.ledger.entries()
    expect(entry).toMatchObject({ outcome: "failed", error: "model_refused", isEstimated: true })
    expect(entry?.usage.inputTokens).toBeGreaterThan(3)
    expect(entry?.usage.outputTokens).toBe(2)
    expect(entry?.costMicros).toBe((entry?.usage.inputTokens ?? 0) + 2)
    expect(session.turns()[0]).toMatchObject({ modelCalls: 0, usage: entry?.usage, costMicros: entry?.costMicros })
    if (isKept) expect(await readRecord(agent)).toMatchObject([{ outcome: "failed", usage: entry?.usage }])
  })

  test("that was aborted is in the ledger with what it had read and said", async () => {
    const gate = createGate()
    const agent = await openAgent([() => ({ gate: gate.pass(), text: "never" })], { isKept, models })
    const { session, runtime } = agent
    const sent = session.send("go on and on")
    await gate.reached
    session.stop()
    const { accounting } = await sent
    const [entry] = runtime.ledger.entries()
    expect(entry).toMatchObject({ turn: accounting.turn, outcome: "aborted", isEstimated: true })
    expect(entry).not.toHaveProperty("error")
    expect(entry?.usage.inputTokens).toBeGreaterThan(3)
    expect(accounting.usage).toEqual(entry?.usage)
    if (isKept) expect(await readRecord(agent)).toMatchObject([{ outcome: "aborted" }])
  })

  test("that a plugin made is in the ledger, too", async () => {
    const agent = await openAgent(["one", { error: { code: "model_refused" } }], { isKept, models })
    const { session, runtime } = agent
    await session.send("go")
    session.setGc({
      kind: "gc",
      name: "asking",
      shouldCollect: () => ({ isDue: false }),
      async collect(messages, _usage, _config, _reason, { model }) {
        await model.generate({ messages }).catch(() => undefined)
        return { messages, removedMessages: 0, summary: "nothing" }
      },
    })
    await session.collect()
    expect(runtime.ledger.entries()[1]).toMatchObject({ purpose: "helper", outcome: "failed", error: "model_refused" })
  })

  test("aborting voids nothing that was said: the text so far is told whole, and stays in the history", async () => {
    const agent = await openAgent([{ text: ["I am sa", "ying"] }], { isKept })
    const { session, events } = agent
    session.on(({ type }) => void (type === "content.delta" && session.stop()))
    const { text } = await session.send("go")
    expect(text).toBe("I am sa")
    expect(typesOf(events)).not.toContain("content.reset")
    const told = { type: "agent.output", agent: session.id, source: "model", text, mode: "write" }
    expect(events).toContainEqual(expect.objectContaining(told))
    expect(JSON.stringify(session.history().at(-1))).toContain("I am sa")
  })
})
