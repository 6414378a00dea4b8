import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import { MODALITIES, type Modality } from "../../plugin/model.ts"

/** Prices in US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly cachedInput?: number | undefined
  readonly output: number
}

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
      cachedInput: dollarsPerMillion.optional(),
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
