import { MeanwhileError } from "../base/error.ts"
import { findNearNames } from "../base/near-name.ts"
import type { Plugin } from "./plugin.ts"
import type { PluginKind } from "./plugin-base.ts"
import type { SkippedPlugin, SkipReason } from "./skipped-plugin.ts"
import type { TaskService } from "./task-service.ts"
import { type ContributingPlugin, createToolIndex, type ToolIndex } from "./tool-index.ts"

/** `enrichment`: takes part in prompt enrichment and nothing else, because its tools are offered elsewhere. */
export type Exposure = "hidden" | "enrichment" | "full"

/** A registered plugin as others see it. */
export interface PluginEntry {
  readonly name: string
  readonly kind: PluginKind
  readonly exposure: Exposure
  readonly plugin: Plugin
}

export interface RegistryChange {
  readonly type:
    | "plugin.registered"
    | "plugin.unregistered"
    | "plugin.exposed"
    | "plugin.unexposed"
    | "plugin.skipped"
    | "plugin.tools_changed"
  readonly plugin: string
}

export interface RegisteredPlugin {
  readonly plugin: Plugin
  config: unknown
  exposure: Exposure
  /** The change in progress. The next change waits for it, so that initialize and shutdown never overlap. */
  turn: Promise<unknown>
}

export interface RegistryState {
  /** The models that sessions use. A plugin is exposed if it fits any of them. */
  readonly models: string[]
  readonly plugins: Map<string, RegisteredPlugin>
  readonly skipped: Map<string, SkippedPlugin>
  readonly tools: ToolIndex
  readonly tasks: (() => TaskService | undefined) | undefined
  readonly listeners: Set<(change: RegistryChange) => void>
  isClosed: boolean
}

export function createRegistryState(options: {
  readonly model?: string
  readonly tasks?: () => TaskService | undefined
}): RegistryState {
  const { model, tasks } = options
  return {
    models: model === undefined ? [] : [model],
    tasks,
    plugins: new Map(),
    skipped: new Map(),
    tools: createToolIndex(),
    listeners: new Set(),
    isClosed: false,
  }
}

export function announce(state: RegistryState, type: RegistryChange["type"], plugin: string): void {
  for (const listener of state.listeners) listener({ type, plugin })
}

export function skip(state: RegistryState, name: string, reason: SkipReason, message: string): void {
  state.skipped.set(name, { name, reason, message })
  announce(state, "plugin.skipped", name)
}

export function requireRegistered(state: RegistryState, name: string): RegisteredPlugin {
  const registered = state.plugins.get(name)
  if (registered) return registered
  const near = findNearNames(name, state.plugins.keys())
  const hint = near.length > 0 ? `Did you mean ${near.join(", ")}?` : "Register it first."
  throw new MeanwhileError("not_found", `There is no plugin named "${name}". ${hint}`, { plugin: name, near })
}

export function toEntry({ plugin, exposure }: RegisteredPlugin): PluginEntry {
  return { name: plugin.name, kind: plugin.kind, exposure, plugin }
}

/** The plugins that add to the conversation now, in the order in which they were registered. */
export function exposedContributors(state: RegistryState): readonly ContributingPlugin[] {
  return [...state.plugins.values()].filter(({ exposure }) => exposure === "full").flatMap(toContributors)
}

/** Changes to one plugin happen one after the other. */
export function inTurn(registered: RegisteredPlugin, change: () => Promise<void>): Promise<void> {
  const done = registered.turn.then(change)
  registered.turn = done.catch(() => undefined)
  return done
}

export function toContributors({ plugin }: Pick<RegisteredPlugin, "plugin">): readonly ContributingPlugin[] {
  return plugin.kind === "tool" || plugin.kind === "session" ? [plugin] : []
}
