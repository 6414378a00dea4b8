import type { Tool } from "../plugin/tool.ts"

export interface OwnedTool {
  readonly plugin: string
  readonly tool: Tool
}

/** Where the runner finds tools: exposed plugins only. */
export interface ToolSource {
  /** Refused as `unknown_tool`, with what there is instead. */
  find(tool: string, plugin?: string): OwnedTool
  /** Names of the plugins whose tasks this process can run. */
  plugins(): readonly string[]
}
