import { z } from "zod"
import type { DiscoveryEntry } from "../plugin/discovery.ts"
import type { Plugin } from "../plugin/plugin.ts"

/** A plugin as the configuration names it: by package name or path, or, in a program, the plugin itself. */
export const pluginEntrySchema = z.union(
  [
    z.string().min(1),
    z.strictObject({
      source: z.string().min(1),
      expose: z.boolean().optional(),
      config: z.unknown().optional(),
    }),
    z.custom<Plugin>((value) => typeof value === "object" && value !== null && "kind" in value && "name" in value),
  ],
  "must be a package name, a path, { source, expose, config } or a plugin",
)

/** Plugins to discover, and plugins that are given as objects. */
export interface ConfiguredPlugins {
  readonly entries: readonly DiscoveryEntry[]
  readonly plugins: readonly Plugin[]
}

export function toConfiguredPlugins(inputs: readonly z.output<typeof pluginEntrySchema>[]): ConfiguredPlugins {
  const entries: DiscoveryEntry[] = []
  const plugins: Plugin[] = []
  for (const input of inputs) {
    if (typeof input === "string") entries.push({ source: input })
    else if ("kind" in input) plugins.push(input)
    else {
      const { source, expose, config } = input
      entries.push({ source, ...(expose !== undefined && { expose }), ...(config !== undefined && { config }) })
    }
  }
  return { entries, plugins }
}
