import { describe, expect, test } from "vitest"
import type { SessionId, TaskId } from "../../task/id.ts"
import { createLedgerTotals, createTokenLedger, type LedgerEntry } from "./ledger.ts"

const session = (name: string) => name as SessionId
const task = (name: string) => name as TaskId

function entry(changes: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    at: 1,
    session: session("s1"),
    turn: task("t1"),
    task: null,
    model: "offline/rules",
    usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 3, reasoningTokens: 1 },
    costMicros: 5,
    purpose: "turn",
    ...changes,
  }
}

describe("the token ledger", () => {
  test("adds up by session, turn, task and model", () => {
    const ledger = createTokenLedger()
    ledger.record(entry())
    ledger.record(entry({ turn: task("t2"), model: "openai/gpt-5", costMicros: 7 }))
    ledger.record(entry({ session: session("s2"), turn: task("t3"), task: task("parent") }))

    expect(ledger.total()).toEqual({
      calls: 3,
      usage: { inputTokens: 30, cachedInputTokens: 12, outputTokens: 9, reasoningTokens: 3 },
      costMicros: 17,
      hasUnknownCost: false,
    })
    expect(ledger.total({ session: session("s1") })).toMatchObject({ calls: 2, costMicros: 12 })
    expect(ledger.total({ session: session("s1"), model: "openai/gpt-5" })).toMatchObject({ calls: 1, costMicros: 7 })
    expect(ledger.total({ session: session("s2"), turn: task("t1") }).calls).toBe(0)
    expect([...ledger.totals("turn").keys()]).toEqual(["t1", "t2", "t3"])
    expect([...ledger.totals("task")].map(([id, total]) => [id, total.calls])).toEqual([["parent", 1]])
    expect(ledger.totals("model").get("offline/rules")?.calls).toBe(2)
  })

  test("says when the cost of a call is not known, and counts the others", () => {
    const ledger = createTokenLedger()
    ledger.record(entry())
    ledger.record(entry({ costMicros: null, turn: task("t2") }))
    expect(ledger.total()).toMatchObject({ costMicros: 5, hasUnknownCost: true })
    expect(ledger.total({ turn: task("t1") }).hasUnknownCost).toBe(false)
  })

  test("a call outside of a turn counts for its session", () => {
    const ledger = createTokenLedger()
    ledger.record(entry({ turn: null }))
    expect(ledger.totals("turn").size).toBe(0)
    expect(ledger.total({ session: session("s1") }).calls).toBe(1)
  })

  test("keeps the newest entries in order, and its totals stay right without the oldest", () => {
    const ledger = createTokenLedger({ maxEntries: 10 })
    for (let at = 0; at < 1_000; at++) ledger.record(entry({ at, model: at % 2 === 0 ? "a/even" : "a/odd" }))
    expect(ledger.entries().map(({ at }) => at)).toEqual([990, 991, 992, 993, 994, 995, 996, 997, 998, 999])
    expect(ledger.entries({ model: "a/odd" })).toHaveLength(5)
    expect(ledger.total()).toMatchObject({ calls: 1_000, costMicros: 5_000 })
    expect(ledger.total({ session: session("s1"), model: "a/odd" }).usage.inputTokens).toBe(5_000)
  })

  test("keeps only the newest turns, and the totals of what the older ones belong to stay right", () => {
    const totals = createLedgerTotals(3)
    for (let at = 0; at < 10; at++) {
      totals.add(entry({ turn: task(`t${at}`), model: at % 2 === 0 ? "a/even" : "a/odd" }))
    }
    expect([...totals.by("turn").keys()]).toEqual(["t7", "t8", "t9"])
    expect([totals.total({ turn: task("t0") }).calls, totals.total({ turn: task("t9") }).calls]).toEqual([0, 1])
    expect([totals.total({}).calls, totals.total({ session: session("s1") }).calls]).toEqual([10, 10])
    expect(totals.total({ session: session("s1"), model: "a/odd" })).toMatchObject({ calls: 5, costMicros: 25 })
  })

  test("refuses a number of entries that makes no sense", () => {
    expect(() => createTokenLedger({ maxEntries: -1 })).toThrow("whole number, 0 or more, not -1")
  })
})

describe("its export", () => {
  const parse = (lines: string) => lines.split("\n").map((line) => line && (JSON.parse(line) as unknown))

  test("is one JSON object a line", () => {
    const ledger = createTokenLedger()
    ledger.record(entry())
    ledger.record(entry({ at: 2, turn: task("t2") }))
    expect(parse(ledger.toJsonl())).toEqual([entry(), entry({ at: 2, turn: task("t2") }), ""])
    expect(parse(ledger.toJsonl({ turn: task("t2") }))).toHaveLength(2)
    expect(ledger.toJsonl({ turn: task("none") })).toBe("")
  })

  test("has a line for what is no longer kept as entries, so that the lines add up", () => {
    const ledger = createTokenLedger({ maxEntries: 1 })
    ledger.record(entry({ costMicros: 1 }))
    ledger.record(entry({ costMicros: 2 }))
    ledger.record(entry({ costMicros: 4 }))
    const usage = { inputTokens: 20, cachedInputTokens: 8, outputTokens: 6, reasoningTokens: 2 }
    expect(parse(ledger.toJsonl())).toEqual([
      { folded: true, calls: 2, usage, costMicros: 3 },
      entry({ costMicros: 4 }),
      "",
    ])
  })
})
