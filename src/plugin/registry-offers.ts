import { describeTool, type DescribeOptions } from "./describe-tool.ts"
import { meetsModelRequirements } from "./model-requirement.ts"
import type { PromptEnricher } from "./prompt-enrichment.ts"
import { exposedContributors, type RegistryState, toContributors } from "./registry-state.ts"
import type { DurationEstimate } from "./task-service.ts"
import type { PromotedAnswer, ToolHooks } from "./tool-hooks.ts"
import type { FoundTool } from "./tool-index.ts"
import { type InputSchema, toInputSchema } from "./tool-schema.ts"
import type { UserCommand } from "./user-command.ts"

/** A tool as a model is told of it. */
export interface ToolSchema {
  readonly plugin: string
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
}

export interface ToolSchemaOptions extends Pick<DescribeOptions, "backgroundThresholdMs"> {
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
  toolSchemas(options: ToolSchemaOptions): readonly ToolSchema[]
  autoApprovedTools(): readonly { readonly plugin: string; readonly tool: string }[]
  userCommands(): readonly OwnedCommand[]
  /** For this model: not of plugins that need another. Without one, of all. */
  systemInstructions(model?: string): readonly { readonly plugin: string; readonly text: string }[]
  /** The same, and also of plugins exposed for enrichment only. */
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
    toolSchemas: ({ backgroundThresholdMs, estimate }) =>
      state.tools.all().map((found) => ({
        plugin: found.plugin,
        name: found.tool.name,
        description: describeTool(found.tool, { backgroundThresholdMs, estimate: estimate?.(found) ?? null }),
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

function withDefaults(command: UserCommand): Required<UserCommand> {
  const { name, description, usage = "", shareWithModel = false } = command
  return { name, description, usage, shareWithModel, run: (argument, context) => command.run(argument, context) }
}

function hasHook(hooks: ToolHooks): boolean {
  return "beforeToolCall" in hooks || "afterToolCall" in hooks
}
