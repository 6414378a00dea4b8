import { z } from "zod"
import type { JsonValue } from "../../../base/json.ts"
import { lazily } from "../../../base/lazily.ts"
import type { ToolReturn } from "../../../plugin/tool.ts"
import type { PromotedAnswer } from "../../../plugin/tool-hooks.ts"
import type { OnCrash } from "../../../task/step.ts"
import type { VocabularySettings } from "../operations/background-call.ts"
import type { CapableTool } from "../operations/capable-tool.ts"
import type { StartedCall } from "../operations/started-call.ts"
import type { TaskOperations } from "../operations/task-operations.ts"

/** The names and shapes under which the model sees the tools for tasks: data over one service. */
export interface Vocabulary {
  readonly tools: readonly VocabularyTool[]
  /** How to work with tasks, and how to read the answer of a call that moved to the background by itself. */
  instructions(capable: readonly CapableTool[]): string
  /** The answer of a call that moved to the background by itself. */
  tellPromoted(promoted: PromotedAnswer, capable: readonly CapableTool[]): string
}

export interface VocabularyTool<Input = unknown> {
  readonly name: string
  /** Made again whenever the exposed tools change. */
  description(capable: readonly CapableTool[]): string
  readonly input: z.ZodType<Input>
  /** True for a tool that only reads, or changes only what counts as seen: nobody is asked for permission. */
  readonly isAutoApproved: boolean
  /** Offered only while a tool of kind `agent` is exposed. */
  readonly needsAgents?: true
  /** How long the call may wait on purpose. Default: not at all. */
  readonly waitsMs?: (input: Input, settings: VocabularySettings) => number
  /** Default `retry`: a call that is made again finds what the first one did. */
  readonly onCrash?: OnCrash
  readonly title?: (input: Input) => string
  /** For a tool that starts another tool. */
  readonly starts?: StartedCall<Input>
  run(input: Input, operations: TaskOperations): Promise<JsonValue | ToolReturn>
}

/** Keeps the input's type inside `run` while tools of all inputs share one list. */
export function defineVocabularyTool<Input>(tool: VocabularyTool<Input>): VocabularyTool {
  return tool as unknown as VocabularyTool
}

export const taskId = lazily(() =>
  z.string().trim().min(1).max(64).describe("The id of a task, or the beginning of it."),
)
