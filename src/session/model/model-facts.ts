import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import type { TokenUsage } from "../../plugin/token-usage.ts"

/** Prices in US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly cachedInput?: number
  readonly output: number
}

const MODALITIES = ["text", "image", "pdf", "audio", "video"] as const
export type Modality = (typeof MODALITIES)[number]

export interface ModelFacts {
  readonly contextLimitTokens: number
  readonly maxOutputTokens: number | null
  /** Null: not known. */
  readonly price: ModelPrice | null
  readonly modalities: readonly Modality[]
}

/** The section `models`: facts about models that the catalogue lacks or has wrong. */
export const modelsConfigSchema = lazily(() => {
  const dollarsPerMillion = z.number().nonnegative()
  const priceSchema = z
    .strictObject({
      input: dollarsPerMillion,
      cachedInput: dollarsPerMillion.exactOptional(),
      output: dollarsPerMillion,
    })
    .describe("US dollars for a million tokens; null: not known.")
  const overrideSchema = z.strictObject({
    contextLimitTokens: z.number().int().positive().optional(),
    maxOutputTokens: z.number().int().positive().nullable().optional(),
    price: priceSchema.nullable().optional(),
    modalities: z.array(z.enum(MODALITIES)).min(1).optional(),
  })
  const patternSchema = z
    .string()
    .regex(/[/*]/, "must be a model's id, such as anthropic/claude-opus-5, or a pattern of it, such as my-server/*")
  return z.record(patternSchema, overrideSchema).default({})
})

/**
 * Millionths of a US dollar, rounded up. Dollars for a million tokens are millionths for one. Without a price of their own,
 * cached tokens cost as much as other input tokens.
 */
export function toCostMicros(price: ModelPrice, usage: TokenUsage): number {
  const { inputTokens, cachedInputTokens, outputTokens } = usage
  const cached = Math.min(cachedInputTokens, inputTokens)
  const cost =
    (inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input) + outputTokens * price.output
  // 3 × 0.1 is a little more than 0.3: such a rounding error must not count as a whole millionth.
  return Math.ceil(Number(cost.toFixed(6)))
}
