import { describe, expect, test } from "vitest"
import { z } from "zod"
import { textOf } from "../../src/plugin/message.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { createCountingModel } from "../support/session/counting-script.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { openAgent } from "../support/session/open-agent.ts"

const LIMIT = 3_000
const TURNS = 200
/** Every fortieth page alone is larger than the whole window. */
const read = defineTool({
  name: "read",
  description: "Reads a page.",
  input: z.object({ page: z.number() }),
  run: async ({ page }) => `Page ${page}. ${"It says this and that. ".repeat(page % 40 === 0 ? 800 : 8)}`,
})

const STRATEGIES = [
  ["truncate", false],
  ["summarize", false],
  ["hybrid", false],
  ["hybrid", true],
] as const

describe.each(STRATEGIES)("004-60: a conversation of 200 turns with %s (kept: %s)", (strategy, isKept) => {
  test("stays within a small context limit at every call, and keeps calls and results together", async () => {
    const { script, counts, problems } = createCountingModel(LIMIT)
    const { session, events, model } = await openAgent(script, {
      isKept,
      tools: [read],
      gc: { strategy },
      synchronous: "normal",
      scripted: { contextLimitTokens: LIMIT, keepsRequests: false },
    })
    for (let turn = 1; turn <= TURNS; turn++) {
      const { outcome, accounting } = await session.send(`Message ${turn}: please read the next page, and tell me.`)
      expect([outcome, accounting.toolCalls]).toEqual(["completed", 1])
      expect(findHistoryProblems(session.history())).toEqual([])
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(LIMIT)
    expect(problems).toEqual([])
    const collected = events.filter(({ type }) => type === "context.collected").length
    expect(collected).toBeGreaterThan(5)
    expect(model.callCount).toBe(strategy === "truncate" ? 2 * TURNS : counts.length)
    expect(session.contextUsage()).toMatchObject({ turns: TURNS, limitTokens: LIMIT })
    expect(session.history().map(textOf).join()).toContain(`Message ${TURNS}:`)
  })
})
