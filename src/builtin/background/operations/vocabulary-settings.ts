/** What a runtime says of its background work, as far as the tools for tasks must know it. */
export interface VocabularySettings {
  /** How long a turn is kept open for a task that was started to be waited for. */
  readonly retainTurnTimeoutMs: number
  /** How long an answer of a tool may be before its middle is left out. */
  readonly toolResultLimitCharacters: number
}
