import type { Contribution } from "./contribution.ts"
import type { PluginBase } from "./plugin-base.ts"
import type { Tool } from "./tool.ts"
import type { ToolHooks } from "./tool-hooks.ts"

/** Adds tools, and may watch over every call of any tool. */
export interface ToolPlugin extends PluginBase, Contribution, ToolHooks {
  readonly kind: "tool"
  readonly tools: readonly Tool[]
}
