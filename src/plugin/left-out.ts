import { z } from "zod"

/**
 * A field that may be left out and is never undefined, with every zod 4: where `exactOptional` is not there yet, before 4.3,
 * undefined passes like a field that was left out.
 */
export function leftOut<Inner extends z.ZodType>(schema: Inner): z.ZodExactOptional<Inner>
export function leftOut(schema: z.ZodType): z.ZodType {
  return "exactOptional" in z ? schema.exactOptional() : schema.optional()
}
