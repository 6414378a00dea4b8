import type { OneAtATime } from "../../../base/one-at-a-time.ts"
import type { ToolContext } from "../../../plugin/context.ts"
import type { CapableTool } from "./capable-tool.ts"
import type { VocabularySettings } from "./vocabulary-settings.ts"

/** One call of a tool for tasks. */
export interface BackgroundCall {
  readonly context: ToolContext
  readonly settings: VocabularySettings
  /** Starts of the same work wait for each other, so that the second finds the first. */
  readonly oneAtATime: OneAtATime
  /** Among the tools that this conversation's model can call. */
  capable(): readonly CapableTool[]
}
