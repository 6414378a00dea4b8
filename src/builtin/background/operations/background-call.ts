import type { OneAtATime } from "../../../base/one-at-a-time.ts"
import type { ToolContext } from "../../../plugin/context.ts"
import type { CapableTool } from "./capable-tool.ts"

/** Settings of a runtime's background work that the task tools need. */
export interface VocabularySettings {
  /** How long a turn is kept open for a task that was started to be waited for. */
  readonly retainTurnTimeoutMs: number
  /** How long an answer of a tool may be before its middle is left out. */
  readonly toolResultLimitCharacters: number
}

/** One call of a tool for tasks. */
export interface BackgroundCall {
  readonly context: ToolContext
  readonly settings: VocabularySettings
  /** Starts of the same work wait for each other, so that the second finds the first. */
  readonly oneAtATime: OneAtATime
  /** The tools that can run in the background, among those that this conversation's model can call. */
  readonly capable: () => readonly CapableTool[]
}
