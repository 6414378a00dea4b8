import type { TaskService } from "./task-service.ts"
import type { Tool } from "./tool.ts"

export interface HostedTool {
  readonly plugin: string
  readonly tool: Tool
  /** True if only sessions that name the plugin are offered the tool: no other may hear of it. */
  readonly isPrivate: boolean
}

/** The host that a plugin gets when it is initialized: the tools of all plugins, and commands over tasks. */
export interface PluginHost {
  /** The tools of all exposed plugins, as they are now. */
  tools(): readonly HostedTool[]
  /**
   * Called after another plugin was exposed or unexposed, or changed its tools. The returned function ends the
   * subscription.
   */
  onToolsChanged(listener: () => void): () => void
  /** Reads the tools of this plugin again. */
  refreshTools(): void
  /** Refused as `wrong_state` until the runtime exists: not to be used within `initialize` itself. */
  readonly tasks: TaskService
}
