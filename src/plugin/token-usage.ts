/** Tokens of one model call, as the provider counts them. */
export interface TokenUsage {
  /** All of the prompt, what came from a cache included. */
  readonly inputTokens: number
  readonly cachedInputTokens: number
  /** All of the answer, reasoning included. */
  readonly outputTokens: number
  readonly reasoningTokens: number
}

export const NO_TOKENS: TokenUsage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 }

/** More than any call can use; sums of it over a long life are exact, and a store can read them. */
const MOST_TOKENS = 1e12

/** Whole counts, whatever a provider reports: a count that is no number, or below 0, becomes 0. */
export function toCounted(usage: TokenUsage): TokenUsage {
  return {
    inputTokens: toCount(usage.inputTokens),
    cachedInputTokens: toCount(usage.cachedInputTokens),
    outputTokens: toCount(usage.outputTokens),
    reasoningTokens: toCount(usage.reasoningTokens),
  }
}

const toCount = (tokens: number): number => (tokens > 0 ? Math.min(Math.round(tokens), MOST_TOKENS) : 0)

export function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  }
}
