/** How full a conversation's context window is. */
export interface ContextUsage {
  readonly usedTokens: number
  readonly limitTokens: number
  readonly percentUsed: number
  readonly turns: number
}
