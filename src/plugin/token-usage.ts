/** Tokens of one model call, as the provider counts them. */
export interface TokenUsage {
  /** The whole prompt, including the part from a cache. */
  readonly inputTokens: number
  readonly cachedInputTokens: number
  /** The whole answer, reasoning included. */
  readonly outputTokens: number
  readonly reasoningTokens: number
}

export const NO_TOKENS: TokenUsage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 }

/** More than any call can use, and small enough that sums over a long time are exact and a store can read them. */
const MOST_TOKENS = 1e12

/** Whole counts, whatever a provider reports: a count that is not a number, or below 0, becomes 0. */
export function toCounted(usage: TokenUsage): TokenUsage {
  return toUsage((kind) => (usage[kind] > 0 ? Math.min(Math.round(usage[kind]), MOST_TOKENS) : 0))
}

export function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return toUsage((kind) => a[kind] + b[kind])
}

function toUsage(count: (kind: keyof TokenUsage) => number): TokenUsage {
  return {
    inputTokens: count("inputTokens"),
    cachedInputTokens: count("cachedInputTokens"),
    outputTokens: count("outputTokens"),
    reasoningTokens: count("reasoningTokens"),
  }
}
