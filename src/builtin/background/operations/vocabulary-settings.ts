/** Settings of a runtime's background work that the task tools need. */
export interface VocabularySettings {
  /** How long a turn is kept open for a task that was started to be waited for. */
  readonly retainTurnTimeoutMs: number
  /** How long an answer of a tool may be before its middle is left out. */
  readonly toolResultLimitCharacters: number
}
