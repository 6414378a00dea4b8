import { MeanwhileError } from "../base/error.ts"
import { findNearNames } from "../base/near-name.ts"
import type { SessionPlugin } from "./session-plugin.ts"
import type { Tool } from "./tool.ts"
import type { ToolPlugin } from "./tool-plugin.ts"

export type ContributingPlugin = ToolPlugin | SessionPlugin

export interface FoundTool {
  readonly plugin: string
  readonly tool: Tool
  readonly owner: ContributingPlugin
}

/** The exposed tools by name. Two plugins may have a tool of the same name; a call must then name the plugin. */
export interface ToolIndex {
  /** Adds `tools` and not the plugin's own list, which may differ. */
  add(plugin: ContributingPlugin, tools: readonly Tool[]): void
  remove(plugin: ContributingPlugin): void
  find(name: string, plugin?: string): FoundTool
  all(): readonly FoundTool[]
}

export function createToolIndex(): ToolIndex {
  const byName = new Map<string, readonly FoundTool[]>()

  return {
    add(plugin, tools) {
      for (const tool of tools) {
        const found = { plugin: plugin.name, tool, owner: plugin }
        byName.set(tool.name, [...(byName.get(tool.name) ?? []), found])
      }
    },
    remove(plugin) {
      // Removes by owner: the plugin's own list may have changed since.
      for (const [name, found] of byName) {
        const others = found.filter(({ owner }) => owner !== plugin)
        if (others.length > 0) byName.set(name, others)
        else byName.delete(name)
      }
    },
    find(name, plugin) {
      const found = byName.get(name) ?? []
      const matching = plugin === undefined ? found : found.filter((each) => each.plugin === plugin)
      const [first, second] = matching
      if (!first) throw toUnknown(name, plugin, byName)
      if (second) throw toAmbiguous(name, matching)
      return first
    },
    all: () => [...byName.values()].flat(),
  }
}

function toUnknown(name: string, plugin: string | undefined, byName: ReadonlyMap<string, readonly FoundTool[]>) {
  const owners = (byName.get(name) ?? []).map((found) => found.plugin)
  const near = owners.length > 0 ? [] : findNearNames(name, byName.keys())
  const where = plugin === undefined ? "" : ` in plugin "${plugin}"`
  const hint =
    owners.length > 0
      ? `It is a tool of ${quoteAll(owners)}.`
      : near.length > 0
        ? `Did you mean ${quoteAll(near)}?`
        : byName.size > 0
          ? `The tools are ${quoteAll([...byName.keys()].toSorted())}.`
          : "No plugin with tools is exposed."
  return new MeanwhileError("unknown_tool", `There is no tool named "${name}"${where}. ${hint}`, {
    tool: name,
    near,
    ...(plugin !== undefined && { plugin }),
  })
}

function toAmbiguous(name: string, matching: readonly FoundTool[]) {
  const plugins = matching.map((found) => found.plugin)
  return new MeanwhileError(
    "ambiguous_id",
    `Several plugins have a tool named "${name}": ${quoteAll(plugins)}. Name the plugin in the call.`,
    { tool: name, plugins },
  )
}

function quoteAll(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ")
}
