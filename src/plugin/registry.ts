import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import { toHarmless } from "../base/harmless.ts"
import { checkPlugin } from "./define-plugin.ts"
import { toInputSchema } from "./input-schema.ts"
import { type DiscoveryEntry, discoverPlugins, type LoadPlugin } from "./discovery.ts"
import { exposePlugin, refreshTools, unexposePlugin } from "./exposure.ts"
import type { PluginKind } from "./plugin-base.ts"
import type { Plugin } from "./plugin.ts"
import {
  announce,
  createRegistryOffers,
  createRegistryState,
  type PluginEntry,
  type RegisteredPlugin,
  type RegistryChange,
  type RegistryOffers,
  type RegistryOptions,
  type RegistryState,
  requireRegistered,
  type SkippedPlugin,
  toEntry,
} from "./registry-state.ts"

export interface RegisterOptions {
  /** Default true. `enrichment`: only its prompt enrichment takes part. */
  readonly expose?: boolean | "enrichment"
  /** Handed to the plugin's `initialize` whenever it is exposed. */
  readonly config?: unknown
}

/** The plugins of one runtime, of all four kinds. A hidden plugin is known but cannot be reached. */
export interface Registry extends RegistryOffers, AsyncDisposable {
  /** Refuses a value that is not a plugin, and a second plugin of the same name. */
  register(plugin: Plugin, options?: RegisterOptions): Promise<PluginEntry>
  unregister(name: string): Promise<void>
  /** The entry says whether it worked; if not, `skipped` says why. */
  expose(name: string, config?: unknown): Promise<PluginEntry>
  unexpose(name: string): Promise<void>
  /** Registers the plugins that the entries name. One that cannot be used is skipped and does not affect the others. */
  discover(entries: readonly DiscoveryEntry[], load: LoadPlugin): Promise<readonly PluginEntry[]>
  /** Reads the tools of an exposed plugin again after its list has changed. */
  refreshTools(name: string): void
  /** Adds a model that sessions use, and exposes plugins that were skipped for want of a fitting model if this one fits. */
  welcome(model: string): Promise<void>
  list(filter?: { readonly kind?: PluginKind; readonly isExposed?: boolean }): readonly PluginEntry[]
  skipped(): readonly SkippedPlugin[]
  /** The listener may be asynchronous, and is not waited for. An error of it is logged. */
  onChange(listener: (change: RegistryChange) => unknown): () => void
  /** Shuts every exposed plugin down, the last registered first. Afterwards nothing can be registered. */
  close(): Promise<void>
}

export function createRegistry(options: RegistryOptions = {}): Registry {
  const state = createRegistryState(options)
  const close = () => closeAll(state)
  return {
    ...createRegistryOffers(state),
    register: async (plugin, options) => {
      checkPlugin(plugin, toInputSchema)
      return register(state, plugin, options)
    },
    unregister: async (name) => {
      const registered = requireRegistered(state, name)
      state.plugins.delete(name)
      state.skipped.delete(name)
      await unexposePlugin(state, registered).finally(() => announce(state, "plugin.unregistered", name))
    },
    expose: async (name, config) => {
      requireOpen(state)
      const registered = requireRegistered(state, name)
      if (config !== undefined) registered.config = config
      await exposePlugin(state, registered, "full")
      return toEntry(registered)
    },
    unexpose: async (name) => unexposePlugin(state, requireRegistered(state, name)),
    refreshTools: (name) => refreshTools(state, name),
    welcome: async (model) => {
      if (state.models.includes(model)) return
      state.models.push(model)
      const wanting = [...state.skipped.values()].filter(({ reason }) => reason === "model_requirement")
      for (const { name } of wanting) await exposePlugin(state, requireRegistered(state, name), "full")
    },
    discover: async (entries, load) => {
      requireOpen(state)
      const registered: PluginEntry[] = []
      for (const { entry, plugin } of await discoverPlugins(state, entries, load)) {
        const { expose = true, config } = entry
        registered.push(await register(state, plugin, { expose, config }))
      }
      return registered
    },
    list: ({ kind, isExposed } = {}) =>
      [...state.plugins.values()]
        .filter(({ plugin }) => kind === undefined || plugin.kind === kind)
        .filter(({ exposure }) => isExposed === undefined || (exposure !== "hidden") === isExposed)
        .map(toEntry),
    skipped: () => [...state.skipped.values()],
    onChange: (listener) => {
      const harmless = toHarmless(listener, (error, { type }) =>
        options.log?.warn("a listener failed", { event: type, error: toErrorMessage(error) }),
      )
      state.listeners.add(harmless)
      return () => state.listeners.delete(harmless)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function register(state: RegistryState, plugin: Plugin, options: RegisterOptions = {}): Promise<PluginEntry> {
  requireOpen(state)
  const { expose = true, config } = options
  if (state.plugins.has(plugin.name)) {
    const message = `There is a plugin named "${plugin.name}" already. Unregister it first, or give this one another name.`
    throw new MeanwhileError("invalid_input", message, { plugin: plugin.name })
  }
  const registered: RegisteredPlugin = { plugin, config, exposure: "hidden", turn: Promise.resolve() }
  state.plugins.set(plugin.name, registered)
  announce(state, "plugin.registered", plugin.name)
  if (expose !== false) await exposePlugin(state, registered, expose === "enrichment" ? "enrichment" : "full")
  return toEntry(registered)
}

async function closeAll(state: RegistryState): Promise<void> {
  state.isClosed = true
  const problems: string[] = []
  for (const registered of [...state.plugins.values()].toReversed()) {
    await unexposePlugin(state, registered).catch((error: unknown) => problems.push(toErrorMessage(error)))
  }
  if (problems.length > 0) throw new MeanwhileError("plugin_unavailable", problems.join(" "), { problems })
}

function requireOpen(state: RegistryState): void {
  if (state.isClosed) throw new MeanwhileError("closed", "The registry is closed: no plugin can be added any more.")
}
