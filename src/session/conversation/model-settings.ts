import { z } from "zod"
import { leftOut } from "../../plugin/left-out.ts"
import { MeanwhileError } from "../../base/error.ts"
import { type JsonObject, toJson } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import type { ProviderOptions, ToolChoice } from "../../plugin/model.ts"
import type { AgentConfig } from "./agent-config.ts"

/**
 * How the model is asked: for one message, or for all of a session. What a message names goes before what its session
 * names, and that before the configuration. Stored with the turn, or with the session: name no keys here.
 */
export interface ModelSettings {
  /**
   * `auto` is the default. `required`, or one tool: the first answer of a turn must call it; after that the model is free.
   * `none`: no answer of the turn may call a tool.
   */
  readonly toolChoice?: ToolChoice
  /**
   * What only one provider knows, such as reasoning effort or cache hints, by the provider's name as its SDK takes it:
   * `{ openai: { reasoningEffort: "low" } }`.
   */
  readonly providerOptions?: ProviderOptions
  readonly temperature?: number
  /** The most tokens of one answer. */
  readonly maxOutputTokens?: number
  /** Model calls in one turn. The last of them gets no tools, so that the model hands back what it has. */
  readonly maxSteps?: number
}

const settingsSchema = lazily(() => {
  const count = z.number().int().positive()
  return z.strictObject({
    toolChoice: leftOut(z.union([z.enum(["auto", "none", "required"]), z.strictObject({ tool: z.string().min(1) })])),
    providerOptions: leftOut(z.record(z.string(), z.record(z.string(), z.json()))),
    temperature: leftOut(z.number().min(0).max(2)),
    maxOutputTokens: leftOut(count),
    maxSteps: leftOut(count),
  })
})

const NAMES = ["toolChoice", "providerOptions", "temperature", "maxOutputTokens", "maxSteps"] as const

export const NO_SETTINGS: ModelSettings = {}

/** The settings among the options. Refused as `invalid_input` if one makes no sense. */
export function toModelSettings(options: ModelSettings): ModelSettings {
  const named = NAMES.filter((name) => options[name] !== undefined)
  if (named.length === 0) return NO_SETTINGS
  const parsed = settingsSchema().safeParse(Object.fromEntries(named.map((name) => [name, options[name]])))
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`)
  throw new MeanwhileError("invalid_input", `The model cannot be asked like that: ${problems.join("; ")}.`, {
    problems,
  })
}

/** The settings as they were stored. What a newer version wrote otherwise is left out. */
export function readModelSettings(stored: unknown): ModelSettings {
  const parsed = settingsSchema().safeParse(stored ?? {})
  return parsed.success ? parsed.data : NO_SETTINGS
}

export function toStoredSettings(settings: ModelSettings): JsonObject {
  return toJson(settings) as JsonObject
}

export type EffectiveSettings = Pick<
  ModelSettings,
  "toolChoice" | "providerOptions" | "temperature" | "maxOutputTokens"
> &
  Required<Pick<ModelSettings, "maxSteps">>

/** What counts for one call. Options of one provider are joined, key by key. */
export function joinSettings(config: AgentConfig, session: ModelSettings, own: ModelSettings): EffectiveSettings {
  const { maxOutputTokens, temperature, maxStepsPerTurn: maxSteps } = config
  const options = joinOptions(session.providerOptions, own.providerOptions)
  return {
    maxSteps,
    ...(maxOutputTokens !== null && { maxOutputTokens }),
    ...(temperature !== null && { temperature }),
    ...session,
    ...own,
    ...(options && { providerOptions: options }),
  }
}

function joinOptions(before?: ProviderOptions, after?: ProviderOptions): ProviderOptions | undefined {
  if (!before || !after) return after ?? before
  const joined = Object.entries(after).map(([name, options]) => [name, { ...before[name], ...options }] as const)
  return { ...before, ...Object.fromEntries(joined) }
}
