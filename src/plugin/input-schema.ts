import { isJsonObject } from "../base/json.ts"
import { toJsonSchema } from "./json-schema.ts"
import type { Schema } from "./schema.ts"
import { type InputSchema, isOwn, toObjectSchema } from "./tool-schema.ts"

const known = new WeakMap<Schema, InputSchema>()

/** Throws as `checkInput` does. A schema never changes, so each is converted once. */
export function toInputSchema(input: Schema): InputSchema {
  let schema = known.get(input)
  if (!schema) known.set(input, (schema = withoutOwnFields(input)))
  return schema
}

function withoutOwnFields(input: Schema): InputSchema {
  const { properties, ...schema } = toObjectSchema(input, toJsonSchema)
  if (!isJsonObject(properties)) return schema
  const told = Object.entries(properties).filter(([, field]) => !isOwn(field))
  return { ...schema, properties: Object.fromEntries(told) }
}

/** The fields that the tool sets itself. */
export function ownFields(input: Schema): ReadonlySet<string> {
  const { properties } = toJsonSchema(input)
  const fields = isJsonObject(properties) ? Object.entries(properties) : []
  return new Set(fields.flatMap(([name, field]) => (isOwn(field) ? name : [])))
}
