import { z } from "zod"
import { toErrorMessage } from "../base/error.ts"
import { isJsonObject, type JsonObject, type JsonValue, toJson } from "../base/json.ts"

/** The shape of a tool's input, as a model gets it: JSON Schema of an object. */
export type InputSchema = JsonObject

/** `schema.meta(NOT_OFFERED)`: a field that the tool sets itself, for the stored input, and that models are not told of. */
export const NOT_OFFERED = { isOffered: false } as const

const known = new WeakMap<z.ZodType, InputSchema>()

/**
 * Throws an Error that says what stands in the way: models take objects of plain JSON values only. A schema never
 * changes, so each is converted once.
 */
export function toInputSchema(input: z.ZodType): InputSchema {
  let schema = known.get(input)
  if (!schema) known.set(input, (schema = describe(input)))
  return schema
}

function describe(input: z.ZodType): InputSchema {
  const { $schema: _, ...schema } = toJsonSchema(input)
  if (schema["type"] !== "object") throw new Error("its input must be an object, made with z.object({ … })")
  const told = toJson(schema) as JsonObject
  const { properties } = told
  return isJsonObject(properties) ? { ...told, properties: withoutOwn(properties) } : told
}

function withoutOwn(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([, field]) => !isOwn(field)))
}

const isOwn = (field: JsonValue | undefined): boolean => isJsonObject(field) && field["isOffered"] === false

const own = new WeakMap<z.ZodType, ReadonlySet<string>>()

/** The fields that the tool sets itself. None if the input cannot be told as JSON Schema: then no model is told of it. */
export function ownFields(input: z.ZodType): ReadonlySet<string> {
  let fields = own.get(input)
  if (!fields) own.set(input, (fields = findOwn(input)))
  return fields
}

function findOwn(input: z.ZodType): ReadonlySet<string> {
  try {
    const { properties } = toJson(toJsonSchema(input)) as JsonObject
    const fields = isJsonObject(properties) ? Object.entries(properties) : []
    return new Set(fields.flatMap(([name, field]) => (isOwn(field) ? name : [])))
  } catch {
    return new Set()
  }
}

/** What a caller gives, without the fields that the tool sets itself. */
export function withoutOwnFields(input: z.ZodType, given: unknown): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given
  const fields = ownFields(input)
  const isFree = Object.keys(given).every((name) => !fields.has(name))
  return isFree ? given : Object.fromEntries(Object.entries(given).filter(([name]) => !fields.has(name)))
}

function toJsonSchema(input: z.ZodType): Record<string, unknown> {
  try {
    return z.toJSONSchema(input, { io: "input" })
  } catch (error) {
    throw new Error(`its input cannot be told as JSON Schema: ${toErrorMessage(error)}`, { cause: error })
  }
}
