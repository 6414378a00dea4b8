import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import { MODALITIES } from "./model-facts.ts"

/** The section `models`: what is true of models that the catalogue does not know, or knows otherwise. */
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
