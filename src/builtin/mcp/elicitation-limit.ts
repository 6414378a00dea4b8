import { z } from "zod"
import { lazily } from "../../base/lazily.ts"

/** Constraints of a form on a text or a number beside its type. */
export const limitShape = lazily(() => ({
  format: z.string().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
}))
type Limits = z.output<z.ZodObject<ReturnType<typeof limitShape>>>

/** A format that is not here demands nothing. */
const FORMATS: Readonly<Record<string, { readonly schema: () => z.ZodType; readonly wanted: string }>> = {
  email: { schema: lazily(() => z.email()), wanted: "an email address is wanted" },
  uri: { schema: lazily(() => z.url()), wanted: "an address is wanted, such as https://example.org" },
  date: { schema: lazily(() => z.iso.date()), wanted: "a date is wanted, such as 2026-01-31" },
  "date-time": {
    schema: lazily(() => z.iso.datetime({ offset: true })),
    wanted: "a time is wanted, such as 2026-01-31T12:00:00Z",
  },
}

/** Why a text is not taken; null when it is. */
export function refuseText(
  text: string,
  { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Limits,
): string | null {
  const length = Array.from(text).length
  if (length < minLength) return `at least ${minLength} characters are wanted`
  if (length > maxLength) return `at most ${maxLength} characters are wanted`
  const known = format !== undefined && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  return known && !known.schema().safeParse(text).success ? known.wanted : null
}

/** Why a number is not taken; null when it is. */
export function refuseNumber(number: number, { minimum, maximum }: Limits): string | null {
  if (minimum !== undefined && number < minimum) return `a number of at least ${minimum} is wanted`
  return maximum !== undefined && number > maximum ? `a number of at most ${maximum} is wanted` : null
}
