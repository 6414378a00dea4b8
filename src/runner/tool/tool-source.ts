import type { Registry } from "../../plugin/registry.ts"
import type { ToolHooks } from "../../plugin/tool-hooks.ts"
import type { Tool } from "../../plugin/tool.ts"
import { TURN_PLUGIN } from "./runtime-tools.ts"
import type { Durations } from "./durations.ts"
import type { FoundTool } from "../../plugin/tool-index.ts"

/** The registry's tools, cached until the exposed plugins change, and the runtime's own tools. */
export interface ToolSource {
  find(tool: string, plugin?: string): Pick<FoundTool, "plugin" | "tool">
  /** Names of the plugins whose tasks this process can run. */
  plugins(): readonly string[]
  /** By plugin, the names of its tools. */
  names(): ReadonlyMap<string, ReadonlySet<string>>
  hooks(): readonly ToolHooks[]
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
  let names: ReadonlyMap<string, ReadonlySet<string>> | undefined
  let plugins: readonly string[] | undefined
  let hooks: readonly ToolHooks[] | undefined
  const unsubscribe = registry.onChange(() => {
    names = undefined
    plugins = undefined
    hooks = undefined
    onChange()
  })

  function toNames(): ReadonlyMap<string, ReadonlySet<string>> {
    const exposed = Map.groupBy(registry.tools(), ({ plugin }) => plugin)
    const ofPlugin = [...exposed].map(
      ([plugin, found]) => [plugin, new Set(found.map(({ tool }) => tool.name))] as const,
    )
    return new Map([[TURN_PLUGIN, new Set(own.keys())], ...ofPlugin])
  }

  return {
    durations,
    find(tool, plugin) {
      const found = plugin === TURN_PLUGIN ? own.get(tool) : undefined
      return found ? { plugin: TURN_PLUGIN, tool: found } : registry.findTool(tool, plugin)
    },
    names: () => (names ??= toNames()),
    plugins: () => (plugins ??= [...(names ??= toNames()).keys()]),
    hooks() {
      hooks ??= registry.toolHooks()
      return hooks
    },
    close: unsubscribe,
  }
}
