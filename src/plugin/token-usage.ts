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

export function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
  }
}
