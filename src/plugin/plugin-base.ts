import type { PluginHost } from "./plugin-host.ts"

export const PLUGIN_KINDS = ["tool", "gc", "session", "model_provider"] as const
export type PluginKind = (typeof PLUGIN_KINDS)[number]

/** Fields shared by all four kinds of plugin. */
export interface PluginBase {
  /** Unique in a registry: lower case, digits, `-` and `_`. */
  readonly name: string
  readonly kind: PluginKind
  /** Glob patterns (`*`, `?`) of the models it works with. Without any, it works with all. */
  readonly modelRequirements?: readonly string[]
  /**
   * Awaited when the plugin is exposed, before anyone can reach it. The plugin checks its own configuration. A registry
   * always gives the host.
   */
  initialize?(config: unknown, host?: PluginHost): Promise<void> | void
  /** Awaited when the plugin is unexposed, once nobody can reach it. */
  shutdown?(): Promise<void> | void
}
