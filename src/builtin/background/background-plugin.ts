import { MeanwhileError } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import { createOneAtATime } from "../../base/one-at-a-time.ts"
import { refuseFormerName } from "../../base/rename-keys.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { PluginHost } from "../../plugin/plugin-host.ts"
import { type Tool, defineTool } from "../../plugin/tool.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { type CapableTool, findCapable, onlyOffered } from "./operations/capable-tool.ts"
import type { Vocabulary, VocabularyTool } from "./vocabulary/vocabulary.ts"
import { createJaatoVocabulary } from "./vocabulary/jaato/vocabulary.ts"
import { createMeanwhileVocabulary } from "./vocabulary/meanwhile/vocabulary.ts"
import { createOpencodeVocabulary } from "./vocabulary/opencode/vocabulary.ts"
import { createPenguiflowVocabulary } from "./vocabulary/penguiflow/vocabulary.ts"
import { toPlacement } from "./operations/started-call.ts"
import { createTaskOperations } from "./operations/task-operations.ts"
import type { BackgroundCall } from "./operations/background-call.ts"

export interface BackgroundPluginOptions {
  /** Default `meanwhile`. */
  readonly vocabulary?: VocabularyName
  /** As in the runtime's configuration. Default 30,000. */
  readonly retainTurnTimeoutMs?: number
  /** As in the runtime's configuration, for the descriptions. Default 10. */
  readonly thresholdSeconds?: number
  /** As in the agent's configuration. Default 30,000. */
  readonly toolResultLimitCharacters?: number
}

/** The tools by which a model commands background work, in the words of one vocabulary. */
export function createBackgroundPlugin(options: BackgroundPluginOptions = {}): ToolPlugin {
  refuseFormerName(options, "backgroundThresholdSeconds", "thresholdSeconds")
  const { retainTurnTimeoutMs = 30_000, thresholdSeconds = 10, toolResultLimitCharacters = 30_000 } = options
  const vocabulary = findVocabulary(options.vocabulary ?? "meanwhile")
  const parts: TaskToolParts = {
    settings: { retainTurnTimeoutMs, toolResultLimitCharacters },
    oneAtATime: createOneAtATime(),
    capable: () => capable,
  }
  let capable: readonly CapableTool[] = []
  let tools: readonly Tool[] = vocabulary.tools.map((tool) => createTaskTool(tool, parts))
  let stopListening: (() => void) | undefined

  /** Makes the tools anew; true if a name or a description has changed. */
  function discover(host: PluginHost): boolean {
    capable = findCapable(host.tools(), thresholdSeconds * 1_000)
    const hasAgents = capable.some(({ tool }) => tool.kind === "agent")
    const before = toText(tools)
    tools = vocabulary.tools
      .filter(({ needsAgents }) => hasAgents || !needsAgents)
      .map((tool) => createTaskTool(tool, parts))
    return toText(tools) !== before
  }

  return defineBuiltin<ToolPlugin>({
    kind: "tool",
    name: "background",
    get tools() {
      return tools
    },
    autoApprovedTools: vocabulary.tools.filter(({ isAutoApproved }) => isAutoApproved).map(({ name }) => name),
    systemInstructions: () => vocabulary.instructions(withoutPrivate(capable)),
    tellPromoted: (promoted) => vocabulary.tellPromoted(promoted, capable),
    initialize(_config, host) {
      if (!host) return
      discover(host)
      stopListening = host.onToolsChanged(() => {
        if (discover(host)) host.refreshTools()
      })
    },
    shutdown() {
      stopListening?.()
      stopListening = undefined
    },
  })
}

function findVocabulary(name: VocabularyName): Vocabulary {
  const create: (() => Vocabulary) | undefined = VOCABULARIES[name]
  if (create) return create()
  const names = Object.keys(VOCABULARIES).join(", ")
  throw new MeanwhileError("invalid_input", `There is no vocabulary "${name}". There are: ${names}.`)
}

function toText(tools: readonly Tool[]): string {
  return tools.map(({ name, description }) => `${name}\n${description}`).join("\n")
}

export type VocabularyName = "meanwhile" | "jaato" | "opencode" | "penguiflow"

/** The vocabularies by their names in the configuration. Only the one in use is created, once for all plugins. */
export const VOCABULARIES: Readonly<Record<VocabularyName, () => Vocabulary>> = {
  meanwhile: lazily(createMeanwhileVocabulary),
  jaato: lazily(createJaatoVocabulary),
  opencode: lazily(createOpencodeVocabulary),
  penguiflow: lazily(createPenguiflowVocabulary),
}

/** `capable` returns all capable tools exposed now, also those that a conversation's model is not offered. */
type TaskToolParts = Omit<BackgroundCall, "context">

/** What every session may hear of. */
function withoutPrivate(capable: readonly CapableTool[]): readonly CapableTool[] {
  return capable.filter(({ isPrivate }) => !isPrivate)
}

/** Within this time a person may be asked whether the tool to be started may run. */
const ANSWER_LIMIT_MS = 60 * 60 * 1_000
const READ_LIMIT_MS = 60_000

/** A tool of the vocabulary as an ordinary tool. */
function createTaskTool(tool: VocabularyTool, parts: TaskToolParts): Tool {
  const { settings, capable } = parts
  const known = () => withoutPrivate(capable())
  const { name, input, isAutoApproved, waitsMs, title, starts, onCrash = "retry" } = tool
  const limitMs = isAutoApproved ? READ_LIMIT_MS : ANSWER_LIMIT_MS
  return defineTool({
    name,
    description: tool.description(known()),
    input,
    timeoutMs: (parsed) => limitMs + (waitsMs?.(parsed, settings) ?? 0),
    onCrash,
    background: { mode: "never" },
    startsForCaller: true,
    ...(title && { title }),
    ...(starts && toPlacement(starts, known)),
    run: (parsed, context) => {
      const offered = () => onlyOffered(capable(), context.sessions.offers())
      return tool.run(parsed, createTaskOperations({ ...parts, context, capable: offered }))
    },
  })
}
