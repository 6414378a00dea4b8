import { z } from "zod"
import type { JsonValue } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import { toVisibleText } from "../../base/visible-text.ts"
import type { Question } from "../../plugin/person-port.ts"
import { limitShape, refuseNumber, refuseText } from "./elicitation-limit.ts"

/** One field of a form, in all the spellings that the protocol has had for it. */
export const fieldSchema = lazily(() => {
  const titled = z.looseObject({ const: z.string(), title: z.string().optional() })
  return z.looseObject({
    ...limitShape(),
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
export function readField(field: Field, answer: string): { value: JsonValue } | { problem: string } {
  const text = answer.trim()
  const options = toOptions(field)
  if (field.type === "array") return readAll(options, text)
  if (field.type === "boolean") return readBoolean(text)
  if (options.length > 0) return readOption(options, text)
  return field.type === "number" || field.type === "integer" ? readNumber(field, text) : readText(field, answer)
}

/** A text of a known format is taken without the blanks around it. */
function readText(field: Field, answer: string): { value: JsonValue } | { problem: string } {
  const value = field.format === undefined ? answer : answer.trim()
  const problem = refuseText(value, field)
  return problem === null ? { value } : { problem }
}

function readNumber(field: Field, text: string): { value: JsonValue } | { problem: string } {
  const number = Number(text)
  const isTaken = text !== "" && Number.isFinite(number) && (field.type === "number" || Number.isInteger(number))
  if (!isTaken) return { problem: `${field.type === "integer" ? "a whole number" : "a number"} is wanted` }
  const problem = refuseNumber(number, field)
  return problem === null ? { value: number } : { problem }
}

function readBoolean(text: string): { value: JsonValue } | { problem: string } {
  if (/^(y|yes|true|on|1)$/i.test(text)) return { value: true }
  return /^(n|no|false|off|0)$/i.test(text) ? { value: false } : { problem: "yes or no is wanted" }
}

function readOption(options: readonly Option[], text: string): { value: string } | { problem: string } {
  const found = options.find(({ value, label }) => [value, label].some((each) => each === text))
  return found ? { value: found.value } : { problem: "one of the options is wanted" }
}

function readAll(options: readonly Option[], text: string): { value: JsonValue } | { problem: string } {
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
