import { expect, test } from "vitest"
import { NO_TOKENS } from "../../plugin/token-usage.ts"
import { toCostMicros } from "./model-cost.ts"

test("the cost is in millionths of a dollar, with cached tokens at their own price", () => {
  const usage = { inputTokens: 1_000, cachedInputTokens: 400, outputTokens: 100, reasoningTokens: 50 }
  expect(toCostMicros({ input: 3, cachedInput: 0.3, output: 15 }, usage)).toBe(600 * 3 + 400 * 0.3 + 100 * 15)
})

test("without a price of their own, cached tokens cost as much as other input tokens", () => {
  const usage = { ...NO_TOKENS, inputTokens: 1_000, cachedInputTokens: 400 }
  expect(toCostMicros({ input: 3, output: 15 }, usage)).toBe(3_000)
})

test("a fraction of a millionth is rounded up, and a rounding error of binary fractions is not", () => {
  expect(toCostMicros({ input: 0.1, output: 0 }, { ...NO_TOKENS, inputTokens: 1 })).toBe(1)
  expect(toCostMicros({ input: 0.1, output: 0.2 }, { ...NO_TOKENS, inputTokens: 3, outputTokens: 6 })).toBe(2)
  expect(toCostMicros({ input: 0.1, output: 0 }, { ...NO_TOKENS, inputTokens: 30 })).toBe(3)
  expect(toCostMicros({ input: 1, output: 1 }, NO_TOKENS)).toBe(0)
})

test("more cached tokens than there are in the prompt never make the cost negative", () => {
  const usage = { ...NO_TOKENS, inputTokens: 10, cachedInputTokens: 1_000 }
  expect(toCostMicros({ input: 3, cachedInput: 0.5, output: 15 }, usage)).toBe(5)
})
