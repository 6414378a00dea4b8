import type { TokenUsage } from "../../plugin/token-usage.ts"
import type { ModelPrice } from "./model-facts.ts"

/**
 * Millionths of a US dollar, rounded up. Dollars for a million tokens are millionths for one. Without a price of their own,
 * cached tokens cost as much as other input tokens.
 */
export function toCostMicros(price: ModelPrice, usage: TokenUsage): number {
  const { inputTokens, cachedInputTokens, outputTokens } = usage
  const cached = Math.min(cachedInputTokens, inputTokens)
  const cost =
    (inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input) + outputTokens * price.output
  // 3 × 0.1 is a little more than 0.3: such a rounding error must not count as a whole millionth.
  return Math.ceil(Number(cost.toFixed(6)))
}
