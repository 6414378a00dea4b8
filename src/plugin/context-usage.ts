/** How full a conversation's context window is. */
export interface ContextUsage {
  readonly usedTokens: number
  readonly limitTokens: number
  readonly percentUsed: number
  /** The turns that have ended since the conversation began, or was last reset. */
  readonly turns: number
}
