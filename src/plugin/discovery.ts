import { toErrorMessage } from "../base/error.ts"
import { checkPlugin } from "./define-plugin.ts"
import { toInputSchema } from "./input-schema.ts"
import type { Plugin } from "./plugin.ts"
import { type RegistryState, skip } from "./registry-state.ts"

/** A plugin named in the configuration. */
export interface DiscoveryEntry {
  /** A package name or a path. */
  readonly source: string
  /** Default true. */
  readonly expose?: boolean
  readonly config?: unknown
}

/** Loads the plugin that the entry names. The registry itself reads no files or packages. */
export type LoadPlugin = (entry: DiscoveryEntry) => Promise<unknown>

export interface Discovered {
  readonly entry: DiscoveryEntry
  readonly plugin: Plugin
}

/** Loads all entries at once and keeps their order. An entry without a usable plugin is skipped with the reason. */
export async function discoverPlugins(
  state: RegistryState,
  entries: readonly DiscoveryEntry[],
  load: LoadPlugin,
): Promise<readonly Discovered[]> {
  const loaded = await Promise.allSettled(entries.map(async (entry) => load(entry)))
  const discovered: Discovered[] = []
  const taken = new Set(state.plugins.keys())
  for (const [index, entry] of entries.entries()) {
    const outcome = loaded[index]
    if (!outcome) continue
    const plugin = outcome.status === "fulfilled" ? toPlugin(state, entry, outcome.value) : undefined
    if (outcome.status === "rejected") skip(state, entry.source, "failed_to_load", toLoadMessage(entry, outcome.reason))
    if (!plugin) continue
    if (taken.has(plugin.name)) {
      const message = `${entry.source} has a plugin named "${plugin.name}", and there is one of that name already.`
      skip(state, entry.source, "duplicate", message)
      continue
    }
    taken.add(plugin.name)
    discovered.push({ entry, plugin })
  }
  return discovered
}

function toPlugin(state: RegistryState, entry: DiscoveryEntry, value: unknown): Plugin | undefined {
  try {
    checkPlugin(value, toInputSchema)
    return value
  } catch (error) {
    skip(state, entry.source, "wrong_shape", `${entry.source}: ${toErrorMessage(error)}`)
    return undefined
  }
}

function toLoadMessage(entry: DiscoveryEntry, error: unknown): string {
  return `${entry.source} did not load: ${toErrorMessage(error)}`
}
