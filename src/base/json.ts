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

/**
 * The value as JSON holds it, and null for undefined. Throws a TypeError that names the place of what JSON would leave out:
 * a function, a Map, an Error. `name` is the name of the whole value there.
 */
export function requireJson(value: unknown, name: string): JsonValue {
  if (value === undefined) return null
  if (typeof value === "string") return value
  const places = new WeakMap<object, string>()
  const text: string | undefined = JSON.stringify(value, function (this: object, key: string, part: unknown) {
    const above = places.get(this)
    const place = above === undefined ? name : Array.isArray(this) ? `${above}[${key}]` : `${above}.${key}`
    const lost = toLost(part)
    if (lost !== undefined) throw new TypeError(`${place} is ${lost}`)
    if (typeof part === "object" && part !== null) places.set(part, place)
    return part
  })
  return text === undefined ? null : (JSON.parse(text) as JsonValue)
}

/** What the value is, if JSON would write nothing of it. */
function toLost(value: unknown): string | undefined {
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") return `a ${typeof value}`
  if (value instanceof Error || value instanceof Map || value instanceof Set)
    return `of class ${value.constructor.name}, of which JSON would keep the least part`
  if (typeof value !== "object" || value === null || Array.isArray(value) || Object.keys(value).length > 0)
    return undefined
  const { constructor }: { readonly constructor?: unknown } = value
  const name = typeof constructor === "function" ? constructor.name : "Object"
  return name === "Object" ? undefined : `of class ${name || "without a name"}, which has nothing that JSON could hold`
}
