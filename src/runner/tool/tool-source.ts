import { lazily } from "../../base/lazily.ts"
import { type BackgroundCapable, runsElsewhere } from "../../plugin/background-capable.ts"
import type { Registry } from "../../plugin/registry.ts"
import type { ToolHooks } from "../../plugin/tool-hooks.ts"
import type { Tool } from "../../plugin/tool.ts"
import type { ContributingPlugin, FoundTool } from "../../plugin/tool-index.ts"
import type { GroupId } from "../../task/id.ts"
import { RUNTIME_PLUGIN, type TaskRecord } from "../../task/record.ts"
import type { Durations } from "./durations.ts"

/** The registry's tools, cached until the exposed plugins change, and the runtime's own tools. */
export interface ToolSource {
  find(tool: string, plugin?: string): Pick<FoundTool, "plugin" | "tool">
  /** Names of the plugins whose tasks this process can run. */
  plugins(): readonly string[]
  /** The names of each plugin's tools. */
  names(): ReadonlyMap<string, ReadonlySet<string>>
  hooks(): readonly ToolHooks[]
  /** The plugins with tasks of their own. */
  elsewhere(): readonly (ContributingPlugin & BackgroundCapable)[]
  /** How long calls of each shape have taken. */
  readonly durations: Durations
  close(): void
}

export function createToolSource(
  registry: Pick<Registry, "findTool" | "tools" | "toolHooks" | "onChange">,
  onChange: () => void,
  runtimeTools: readonly Tool[],
  durations: Durations,
): ToolSource {
  const own = new Map(runtimeTools.map((tool) => [tool.name, tool]))
  let known = lazily(readRegistry)
  const unsubscribe = registry.onChange(() => {
    known = lazily(readRegistry)
    onChange()
  })

  function readRegistry() {
    const tools = registry.tools()
    const elsewhere = [...new Set(tools.map(({ owner }) => owner))].filter(runsElsewhere)
    const exposed = Map.groupBy(tools, ({ plugin }) => plugin)
    const ofPlugin = [...exposed].map(
      ([plugin, found]) => [plugin, new Set(found.map(({ tool }) => tool.name))] as const,
    )
    const names: ReadonlyMap<string, ReadonlySet<string>> = new Map([[TURN_PLUGIN, new Set(own.keys())], ...ofPlugin])
    return { names, plugins: [...names.keys()], hooks: registry.toolHooks(), elsewhere }
  }

  return {
    durations,
    find(tool, plugin) {
      const found = plugin === TURN_PLUGIN ? own.get(tool) : undefined
      return found ? { plugin: TURN_PLUGIN, tool: found } : registry.findTool(tool, plugin)
    },
    names: () => known().names,
    plugins: () => known().plugins,
    hooks: () => known().hooks,
    elsewhere: () => known().elsewhere,
    close: unsubscribe,
  }
}

export const TURN_PLUGIN = RUNTIME_PLUGIN
export const TURN_TOOL = "turn"

export function isTurn({ plugin, tool }: { readonly plugin: string; readonly tool: Pick<Tool, "name"> }): boolean {
  return plugin === TURN_PLUGIN && tool.name === TURN_TOOL
}

export const QUESTION_TOOL = "question"

/** Every idempotency key of a question begins with this. */
export const QUESTION_PREFIX = "question/"

export const GATE_PLUGIN = TURN_PLUGIN
export const GATE_TOOL = "apply_results"

/** Marks the question whether a group's results are used, so that its answer is understood. */
export const GATE_QUESTION = "apply_results"

export const GATE_PREFIX = "gate/"

/** A group has one gate, however many callers ask for it. */
export function toGateKey(group: GroupId): string {
  return `${GATE_PREFIX}${group}`
}

/** The group whose results wait behind this task; null when it is no gate. */
export function groupOfGate({
  plugin,
  tool,
  idempotencyKey,
}: Pick<TaskRecord, "plugin" | "tool" | "idempotencyKey">): GroupId | null {
  if (plugin !== GATE_PLUGIN || tool !== GATE_TOOL || !idempotencyKey?.startsWith(GATE_PREFIX)) return null
  return idempotencyKey.slice(GATE_PREFIX.length) as GroupId
}
