import { expect, test } from "vitest"
import { echo } from "../support/tools.ts"
import { openAgent } from "../support/session/open-agent.ts"

test.each([Number.NaN, Number.POSITIVE_INFINITY, -5, 2 ** 53, 0.5])(
  "a model that reports %d tokens has its turn, and the next one after it",
  async (tokens) => {
    const usage = { inputTokens: tokens, cachedInputTokens: tokens, outputTokens: tokens, reasoningTokens: tokens }
    const script = [{ calls: [{ tool: "echo", input: { value: "x" } }], usage }, { text: "one", usage }, "two"]
    const { session, runtime } = await openAgent(script, { isKept: true, tools: [echo] })
    expect((await session.send("a")).text).toBe("one")
    expect((await session.send("b")).text).toBe("two")
    const { items } = await runtime.tasks.list({ session: session.id, kinds: ["turn"] })
    expect(items.map(({ status }) => status)).toEqual(["completed", "completed"])
    for (const { usage: spent } of items) expect(Number.isSafeInteger(spent.tokens)).toBe(true)
  },
)
