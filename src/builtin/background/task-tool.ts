import type { OneAtATime } from "../../base/one-at-a-time.ts"
import { defineTool, type Tool } from "../../plugin/tool.ts"
import { type CapableTool, onlyOffered } from "./capable-tool.ts"
import { toPlacement } from "./started-call.ts"
import { createTaskOperations } from "./task-operations.ts"
import type { VocabularyTool } from "./vocabulary.ts"
import type { VocabularySettings } from "./vocabulary-settings.ts"

export interface TaskToolParts {
  readonly settings: VocabularySettings
  readonly oneAtATime: OneAtATime
  /** Of all exposed tools, as they are now. */
  readonly capable: () => readonly CapableTool[]
}

/** A person may be asked whether what is to be started may run: that takes as long as it takes. */
const ANSWER_LIMIT_MS = 60 * 60 * 1_000
const READ_LIMIT_MS = 60_000

/** A tool of the vocabulary as an ordinary tool. */
export function createTaskTool(tool: VocabularyTool, { settings, oneAtATime, capable }: TaskToolParts): Tool {
  const { name, input, isAutoApproved, waitsMs, title, starts, onCrash = "retry" } = tool
  const limitMs = isAutoApproved ? READ_LIMIT_MS : ANSWER_LIMIT_MS
  return defineTool({
    name,
    description: tool.description(capable()),
    input,
    timeoutMs: (parsed) => limitMs + (waitsMs?.(parsed, settings) ?? 0),
    onCrash,
    startsForCaller: true,
    ...(title && { title }),
    ...(starts && toPlacement(starts, capable)),
    run: (parsed, context) => {
      const offered = () => onlyOffered(capable(), context.sessions.offers())
      return tool.run(parsed, createTaskOperations({ context, settings, oneAtATime, capable: offered }))
    },
  })
}
