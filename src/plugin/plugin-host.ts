import type { TaskService } from "./task-service.ts"
import type { Tool } from "./tool.ts"

export interface HostedTool {
  readonly plugin: string
  readonly tool: Tool
}

/** The host a plugin gets when it is initialized: tools of other plugins, and commands over tasks. */
export interface PluginHost {
  /** Those of exposed plugins, as they are now. */
  tools(): readonly HostedTool[]
  /** Told after each expose, unexpose, and change of a plugin's tools. Returns what takes it back. */
  onToolsChanged(listener: () => void): () => void
  /** Reads the tools of this plugin again. */
  refreshTools(): void
  /** Refused as `wrong_state` until the runtime is there: not to be used within `initialize` itself. */
  readonly tasks: TaskService
}
