import { MeanwhileError } from "../../base/error.ts"
import { createOneAtATime } from "../../base/one-at-a-time.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { PluginHost } from "../../plugin/plugin-host.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { ToolPlugin } from "../../plugin/tool-plugin.ts"
import { type CapableTool, findCapable } from "./capable-tool.ts"
import { createTaskTool, type TaskToolParts } from "./task-tool.ts"
import { VOCABULARIES, type VocabularyName } from "./vocabularies.ts"
import type { Vocabulary } from "./vocabulary.ts"

export interface BackgroundPluginOptions {
  /** Default `meanwhile`. */
  readonly vocabulary?: VocabularyName
  /** As in the runtime's configuration. Default 30,000. */
  readonly retainTurnTimeoutMs?: number
  /** As in the runtime's configuration, for the descriptions. Default 10. */
  readonly backgroundThresholdSeconds?: number
  /** As in the agent's configuration. Default 30,000. */
  readonly toolResultLimitCharacters?: number
}

/** The tools by which a model commands background work, in the words of one vocabulary. */
export function createBackgroundPlugin(options: BackgroundPluginOptions = {}): ToolPlugin {
  const { retainTurnTimeoutMs = 30_000, backgroundThresholdSeconds = 10, toolResultLimitCharacters = 30_000 } = options
  const vocabulary = findVocabulary(options.vocabulary ?? "meanwhile")
  const parts: TaskToolParts = {
    settings: { retainTurnTimeoutMs, toolResultLimitCharacters },
    oneAtATime: createOneAtATime(),
    capable: () => capable,
  }
  let capable: readonly CapableTool[] = []
  let tools: readonly Tool[] = vocabulary.tools.map((tool) => createTaskTool(tool, parts))
  let stopListening: (() => void) | undefined

  /** True when what the model reads of the tools is another now. */
  function discover(host: PluginHost): boolean {
    capable = findCapable(host.tools(), backgroundThresholdSeconds * 1_000)
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
    systemInstructions: () => vocabulary.instructions(capable),
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
