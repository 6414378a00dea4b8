import { toErrorMessage } from "../base/error.ts"
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts"
import { isZod, ownJsonSchema, type Schema, toUntold } from "./schema.ts"

/** The shape of a tool's input, as a model gets it: JSON Schema of an object. */
export type InputSchema = JsonObject

/** `schema.meta(NOT_OFFERED)`: a field that the tool sets itself, for the stored input, and that models are not told of. */
export const NOT_OFFERED = { isOffered: false } as const

/** Throws an Error that says what stands in the way: models take objects of plain JSON values only. */
export type CheckInput = (input: Schema) => void

/** What can be said without loading zod, which early versions of it need: the others write their JSON Schema themselves. */
export const checkInput: CheckInput = (input) => {
  if (isZod(input) && !("jsonSchema" in input["~standard"])) return
  toObjectSchema(input, (schema) => {
    const own = ownJsonSchema(schema)
    if (own) return own
    throw toUntold(schema)
  })
}

export function toObjectSchema(input: Schema, toJsonSchema: (schema: Schema) => JsonObject): JsonObject {
  const schema = tell(input, toJsonSchema)
  if (schema["type"] !== "object") throw new Error("its input must be an object, such as z.object({ … })")
  return schema
}

function tell(input: Schema, toJsonSchema: (schema: Schema) => JsonObject): JsonObject {
  try {
    return toJsonSchema(input)
  } catch (error) {
    throw new Error(`its input cannot be told as JSON Schema: ${toErrorMessage(error)}`, { cause: error })
  }
}

export const isOwn = (field: JsonValue | undefined): boolean => isJsonObject(field) && field["isOffered"] === false
