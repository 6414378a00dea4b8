import { z } from "zod"
import type { JsonValue } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import { toVisibleText } from "../../base/visible-text.ts"
import type { Question } from "../../plugin/person-port.ts"

/** One field of a form, in all the spellings that the protocol has had for it. */
export const fieldSchema = lazily(() => {
  const titled = z.looseObject({ const: z.string(), title: z.string().optional() })
  return z.looseObject({
    format: z.string().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    type: z.string().default("string"),
    title: z.string().optional(),
    description: z.string().optional(),
    default: z.json().optional(),
    enum: z.array(z.string()).optional(),
    enumNames: z.array(z.string()).optional(),
    oneOf: z.array(titled).optional(),
    items: z.looseObject({ enum: z.array(z.string()).optional(), anyOf: z.array(titled).optional() }).optional(),
  })
})

const LONGEST_TEXT = 500

export type Field = z.output<ReturnType<typeof fieldSchema>>

interface Option {
  readonly value: string
  readonly label: string
}

type Read<Value extends JsonValue = JsonValue> = { readonly value: Value } | { readonly problem: string }

export function toFieldQuestion(text: string, name: string, field: Field, isRequired: boolean): Question {
  const label = toShown(field.title ?? name)
  const hint = field.description === undefined ? "" : ` (${toShown(field.description)})`
  const fallback = toFallback(field)
  const options = field.type === "boolean" ? ["yes", "no"] : toOptions(field).map((option) => option.label)
  return {
    kind: options.length > 0 ? "choice" : "text",
    text: `${text}\n${label}${hint}${isRequired ? "" : ", may be left empty"}:`,
    ...(options.length > 0 && { options }),
    ...(field.type === "array" && { isMultiple: true }),
    ...(fallback !== null && { fallback }),
  }
}

/** The person's words as a value of the field, or the reason why they are not valid. */
export function readField(field: Field, answer: string): Read {
  const text = answer.trim()
  const options = toOptions(field)
  if (field.type === "array") return readAll(options, text)
  if (field.type === "boolean") return readBoolean(text)
  if (options.length > 0) return readOption(options, text)
  return field.type === "number" || field.type === "integer" ? readNumber(field, text) : readText(field, answer)
}

/** A text of a known format is taken without the blanks around it. */
function readText(field: Field, answer: string): Read {
  const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = field
  const value = format === undefined ? answer : answer.trim()
  const length = Array.from(value).length
  if (length < minLength) return { problem: `at least ${minLength} characters are wanted` }
  if (length > maxLength) return { problem: `at most ${maxLength} characters are wanted` }
  const known = format !== undefined && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  return known && !known.schema().safeParse(value).success ? { problem: known.wanted } : { value }
}

function readNumber(field: Field, text: string): Read {
  const { type, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = field
  const value = Number(text)
  const isTaken = text !== "" && Number.isFinite(value) && (type === "number" || Number.isInteger(value))
  if (!isTaken) return { problem: `${type === "integer" ? "a whole number" : "a number"} is wanted` }
  if (value < minimum) return { problem: `a number of at least ${minimum} is wanted` }
  return value > maximum ? { problem: `a number of at most ${maximum} is wanted` } : { value }
}

function readBoolean(text: string): Read {
  if (/^(y|yes|true|on|1)$/i.test(text)) return { value: true }
  return /^(n|no|false|off|0)$/i.test(text) ? { value: false } : { problem: "yes or no is wanted" }
}

function readOption(options: readonly Option[], text: string): Read<string> {
  const found = options.find(({ value, label }) => value === text || label === text)
  return found ? { value: found.value } : { problem: "one of the options is wanted" }
}

function readAll(options: readonly Option[], text: string): Read {
  const values: string[] = []
  for (const part of text.split(",").map((each) => each.trim())) {
    if (part === "") continue
    const read = options.length > 0 ? readOption(options, part) : { value: part }
    if ("problem" in read) return read
    values.push(read.value)
  }
  return { value: values }
}

function toOptions({ enum: values, enumNames, oneOf, items }: Field): readonly Option[] {
  const titles = oneOf ?? items?.anyOf
  if (titles) return titles.map(({ const: value, title = value }) => ({ value, label: toShown(title) }))
  return (values ?? items?.enum ?? []).map((value, index) => ({ value, label: toShown(enumNames?.[index] ?? value) }))
}

function toShown(text: string): string {
  return toVisibleText(text, LONGEST_TEXT)
}

function toFallback(field: Field): string | null {
  if (field.default === undefined || field.default === null) return null
  if (typeof field.default === "boolean") return field.default ? "yes" : "no"
  if (Array.isArray(field.default)) return field.default.filter((each) => typeof each === "string").join(", ")
  const found = toOptions(field).find(({ value }) => value === field.default)
  return found?.label ?? (typeof field.default === "object" ? null : String(field.default))
}

/** The formats that are checked. Text of any other format is taken as it is. */
const FORMATS: Readonly<Record<string, { readonly schema: () => z.ZodType; readonly wanted: string }>> = {
  email: { schema: lazily(() => z.email()), wanted: "an email address is wanted" },
  uri: { schema: lazily(() => z.url()), wanted: "an address is wanted, such as https://example.org" },
  date: { schema: lazily(() => z.iso.date()), wanted: "a date is wanted, such as 2026-01-31" },
  "date-time": {
    schema: lazily(() => z.iso.datetime({ offset: true })),
    wanted: "a time is wanted, such as 2026-01-31T12:00:00Z",
  },
}
