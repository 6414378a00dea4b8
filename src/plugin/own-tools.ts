import { definePlugin } from "./define-plugin.ts"
import type { ToolPlugin } from "./tool-plugin.ts"
import type { Tool } from "./tool.ts"

/** The tools of a program that needs no plugin for them: they belong to a plugin named `tools`. */
export function toOwnPlugins(tools: readonly Tool[] = []): readonly ToolPlugin[] {
  return tools.length === 0 ? [] : [definePlugin({ kind: "tool", name: "tools", tools })]
}
