export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

const encoder = new TextEncoder()

export function byteLength(text: string): number {
  return encoder.encode(text).byteLength
}

/** The value a reader gets back from `JSON.stringify`: `undefined` and functions become null. */
export function toJson(value: unknown): JsonValue {
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? null : (JSON.parse(text) as JsonValue)
}
