import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts"

type ResponseFormat = NonNullable<LanguageModelV4CallOptions["responseFormat"]>

const known = new WeakMap<JsonObject, ResponseFormat>()

/** The form of an answer as the SDKs take it. A schema never changes, so each is converted once. */
export function toResponseFormat(schema: JsonObject): ResponseFormat {
  let format = known.get(schema)
  if (!format) known.set(schema, (format = { type: "json", name: "answer", schema: closeObjects(schema) }))
  return format
}

/** Providers take objects only that say that they have no other properties. */
function closeObjects(schema: JsonObject): JsonObject {
  const inner = mapSchema(schema, (value) => (isJsonObject(value) ? closeObjects(value) : value))
  const isOpen = inner["type"] === "object" && inner["additionalProperties"] === undefined
  return isOpen ? { ...inner, additionalProperties: false } : inner
}

/** True if every object in it names all of its properties as required: OpenAI checks no other schema strictly. */
export function isStrict(schema: JsonObject): boolean {
  let isSo = isClosed(closeObjects(schema))
  mapSchema(schema, (value) => {
    if (isJsonObject(value) && !isStrict(value)) isSo = false
    return value
  })
  return isSo
}

function isClosed({ type, properties, required, additionalProperties }: JsonObject): boolean {
  if (type !== "object") return true
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  return additionalProperties === false && names.every((name) => Array.isArray(required) && required.includes(name))
}

const BY_NAME = ["properties", "$defs", "definitions", "patternProperties"]
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"]
const SINGLE = ["items", "additionalProperties", "not", "contains", "propertyNames"]

/** The schema with every schema directly inside of it changed. Values that look like schemas, such as a default, stay. */
function mapSchema(schema: JsonObject, change: (inner: JsonValue) => JsonValue): JsonObject {
  const entries = Object.entries(schema).map(([key, value]) => {
    if (BY_NAME.includes(key) && isJsonObject(value)) {
      return [key, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]))] as const
    }
    if (LISTS.includes(key) && Array.isArray(value))
      return [key, value.map((inner: JsonValue) => change(inner))] as const
    return [key, SINGLE.includes(key) ? change(value) : value] as const
  })
  return Object.fromEntries(entries)
}
