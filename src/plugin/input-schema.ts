import { isJsonObject } from "../base/json.ts"
import { toJsonSchema } from "./json-schema.ts"
import type { Schema } from "./schema.ts"
import { type InputSchema, isOwn, toObjectSchema } from "./tool-schema.ts"

const known = new WeakMap<Schema, InputSchema>()

/** Throws as `checkInput` does. A schema never changes, so each is converted once. */
export function toInputSchema(input: Schema): InputSchema {
  let schema = known.get(input)
  if (!schema) known.set(input, (schema = toOffered(input)))
  return schema
}

function toOffered(input: Schema): InputSchema {
  const { properties, ...schema } = toObjectSchema(input, toJsonSchema)
  if (!isJsonObject(properties)) return schema
  const told = Object.entries(properties).filter(([, field]) => !isOwn(field))
  return { ...schema, properties: Object.fromEntries(told) }
}

const own = new WeakMap<Schema, ReadonlySet<string>>()

/** The fields that the tool sets itself. None if the input cannot be told as JSON Schema: then no model is told of it. */
export function ownFields(input: Schema): ReadonlySet<string> {
  let fields = own.get(input)
  if (!fields) own.set(input, (fields = findOwn(input)))
  return fields
}

function findOwn(input: Schema): ReadonlySet<string> {
  try {
    const { properties } = toJsonSchema(input)
    const fields = isJsonObject(properties) ? Object.entries(properties) : []
    return new Set(fields.flatMap(([name, field]) => (isOwn(field) ? name : [])))
  } catch {
    return new Set()
  }
}

/** What a caller gives, without the fields that the tool sets itself. */
export function withoutOwnFields(input: Schema, given: unknown): unknown {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return given
  const fields = ownFields(input)
  const isFree = Object.keys(given).every((name) => !fields.has(name))
  return isFree ? given : Object.fromEntries(Object.entries(given).filter(([name]) => !fields.has(name)))
}
