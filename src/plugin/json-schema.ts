import { z } from "zod"
import { type JsonObject, toJson } from "../base/json.ts"
import { isZod, ownJsonSchema, type Schema, toUntold } from "./schema.ts"

/** What a schema takes, as JSON Schema for a model. Throws an Error that says what stands in the way. */
export function toJsonSchema(schema: Schema): JsonObject {
  const own = ownJsonSchema(schema)
  if (own) return own
  if (!isZod(schema)) throw toUntold(schema)
  const { $schema: _, ...told } = z.toJSONSchema(schema as Schema & z.core.$ZodType, {
    io: "input",
    // The copy of zod that made the schema may keep its descriptions apart from ours.
    override: ({ zodSchema, jsonSchema }) => void Object.assign(jsonSchema, metadataOf(zodSchema)),
  })
  return toJson(told) as JsonObject
}

function metadataOf(schema: object): object {
  if (!(schema instanceof z.ZodType)) return {}
  const { id: _, ...metadata } = schema.meta() ?? {}
  return metadata
}
