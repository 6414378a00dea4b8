import { type Clock, systemClock } from "../base/clock.ts"
import { MeanwhileError } from "../base/error.ts"
import { findNearNames } from "../base/near-name.ts"
import type { Log } from "./context.ts"
import { describeTool } from "./describe-tool.ts"
import type { PluginKind } from "./plugin-base.ts"
import type { Plugin } from "./plugin.ts"
import type { PromptEnricher } from "./prompt-enrichment.ts"
import type { TaskService, DurationEstimate } from "./task-service.ts"
import type { PromotedAnswer, ToolHooks } from "./tool-hooks.ts"
import { type ContributingPlugin, createToolIndex, type ToolIndex, type FoundTool } from "./tool-index.ts"
import { toInputSchema } from "./input-schema.ts"
import type { InputSchema } from "./tool-schema.ts"
import type { UserCommand } from "./user-command.ts"

/** `enrichment`: takes part in prompt enrichment and nothing else, because its tools are offered elsewhere. */
export type Exposure = "hidden" | "enrichment" | "full"

/** A registered plugin as others see it. */
export interface PluginEntry {
  readonly name: string
  readonly kind: PluginKind
  readonly exposure: Exposure
  readonly plugin: Plugin
}

export type SkipReason = "model_requirement" | "failed_to_load" | "failed_to_initialize" | "wrong_shape" | "duplicate"

/** A plugin that was asked for and is not available, with a sentence that says why. */
export interface SkippedPlugin {
  /** The plugin's name, or its package or path if the name never became known. */
  readonly name: string
  readonly reason: SkipReason
  readonly message: string
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
  readonly clock: Clock
  isClosed: boolean
}

export interface RegistryOptions {
  /** Plugins that fit this model are exposed. Without a model, all are. */
  readonly model?: string
  /** The commands over tasks that plugins are handed; undefined until the runtime exists. */
  readonly tasks?: () => TaskService | undefined
  /** Default: the system's. */
  readonly clock?: Clock
  /** Told of listeners that fail. Default: nobody is. */
  readonly log?: Pick<Log, "warn">
}

export function createRegistryState(options: RegistryOptions): RegistryState {
  const { model, tasks, clock = systemClock } = options
  return {
    models: model === undefined ? [] : [model],
    tasks,
    plugins: new Map(),
    skipped: new Map(),
    tools: createToolIndex(),
    listeners: new Set(),
    clock,
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

/** Changes to one plugin happen one after the other. */
export function inTurn(registered: RegisteredPlugin, change: () => Promise<void>): Promise<void> {
  const done = registered.turn.then(change)
  registered.turn = done.catch(() => undefined)
  return done
}

/** A tool as it is described to a model. */
export interface ToolSchema {
  readonly plugin: string
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
}

export interface ToolSchemaOptions {
  readonly estimate?: (found: FoundTool) => DurationEstimate | null
}

export interface OwnedCommand {
  readonly plugin: string
  readonly command: Required<UserCommand>
}

/** The combined offers of all exposed plugins, in order of registration. */
export interface RegistryOffers {
  /** Refused as `unknown_tool` with near names, or as `ambiguous_id` when several plugins have it. */
  findTool(name: string, plugin?: string): FoundTool
  tools(): readonly FoundTool[]
  toolSchemas(options?: ToolSchemaOptions): readonly ToolSchema[]
  autoApprovedTools(): readonly { readonly plugin: string; readonly tool: string }[]
  userCommands(): readonly OwnedCommand[]
  /** For this model: without plugins that need another model. Without a model, of all plugins. */
  systemInstructions(model?: string): readonly { readonly plugin: string; readonly text: string }[]
  /** Chosen by the model like `systemInstructions`, but also of plugins exposed for enrichment only. */
  promptEnrichers(model?: string): readonly PromptEnricher[]
  toolHooks(): readonly ToolHooks[]
  /** The exposed plugins that say what a model reads of a promoted call. */
  promotionTellers(): readonly PromotionTeller[]
}

export interface PromotionTeller {
  readonly plugin: string
  tellPromoted(promoted: PromotedAnswer): string | undefined
}

export function createRegistryOffers(state: RegistryState): RegistryOffers {
  return {
    findTool: (name, plugin) => state.tools.find(name, plugin),
    tools: () => state.tools.all(),
    toolSchemas: ({ estimate } = {}) =>
      state.tools.all().map((found) => ({
        plugin: found.plugin,
        name: found.tool.name,
        description: describeTool(found.tool, { estimate: estimate?.(found) ?? null }),
        inputSchema: toInputSchema(found.tool.input),
      })),
    autoApprovedTools: () =>
      exposedContributors(state).flatMap(({ name, autoApprovedTools = [] }) =>
        autoApprovedTools.map((tool) => ({ plugin: name, tool })),
      ),
    userCommands: () =>
      exposedContributors(state).flatMap(({ name, userCommands = [] }) =>
        userCommands.map((command) => ({ plugin: name, command: withDefaults(command) })),
      ),
    systemInstructions: (model) =>
      exposedContributors(state)
        .filter(({ modelRequirements }) => meetsModelRequirements(modelRequirements, model))
        .map(({ name, systemInstructions = "" }) => ({
          plugin: name,
          text: typeof systemInstructions === "function" ? systemInstructions() : systemInstructions,
        }))
        .filter(({ text }) => text !== ""),
    promptEnrichers: (model) =>
      [...state.plugins.values()]
        .filter(({ exposure }) => exposure !== "hidden")
        .flatMap(toContributors)
        .filter(({ modelRequirements }) => meetsModelRequirements(modelRequirements, model))
        .flatMap((plugin) =>
          plugin.enrichPrompt
            ? [
                {
                  plugin: plugin.name,
                  enrichPrompt: (prompt, context) => plugin.enrichPrompt?.(prompt, context) ?? { prompt },
                },
              ]
            : [],
        ),
    toolHooks: () =>
      exposedContributors(state)
        .filter((plugin) => plugin.kind === "tool")
        .filter(hasHook),
    promotionTellers: () =>
      exposedContributors(state)
        .filter((plugin) => plugin.kind === "tool")
        .flatMap((plugin) =>
          plugin.tellPromoted
            ? [{ plugin: plugin.name, tellPromoted: (promoted) => plugin.tellPromoted?.(promoted) }]
            : [],
        ),
  }
}

/** The plugins that add to the conversation now, in the order in which they were registered. */
export function exposedContributors(state: RegistryState): readonly ContributingPlugin[] {
  return [...state.plugins.values()].filter(({ exposure }) => exposure === "full").flatMap(toContributors)
}

export function toContributors({ plugin }: Pick<RegisteredPlugin, "plugin">): readonly ContributingPlugin[] {
  return plugin.kind === "tool" || plugin.kind === "session" ? [plugin] : []
}

/**
 * True if a pattern matches the model, with its provider or without, if there are no patterns, or if no model is known
 * yet.
 */
export function meetsModelRequirements(patterns: readonly string[] | undefined, model: string | undefined): boolean {
  if (!patterns || patterns.length === 0 || model === undefined) return true
  const name = model.slice(model.indexOf("/") + 1)
  return patterns.some((pattern) => [model, name].some((known) => toExpression(pattern).test(known)))
}

/** `*` matches any run of characters, `?` any one character, and every other character itself. */
function toExpression(glob: string): RegExp {
  const source = glob
    .replace(/[\\^$.|+()[\]{}]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".")
  return new RegExp(`^${source}$`, "s")
}

function withDefaults(command: UserCommand): Required<UserCommand> {
  const { name, description, usage = "", shareWithModel = false } = command
  return { name, description, usage, shareWithModel, run: (argument, context) => command.run(argument, context) }
}

function hasHook(hooks: ToolHooks): boolean {
  return "beforeToolCall" in hooks || "afterToolCall" in hooks
}
