import type { JsonObject, JsonValue } from "../../base/json.ts"
import { createSecretFinder } from "./secret-finder.ts"
import { isSecretField } from "./secret-names.ts"

/** Takes secrets out of whatever is stored, logged or shown. Finding none is cheap. */
export interface Redactor {
  /** Adds the values of a command's environment, which may come back in its output. */
  learn(environment: RedactorOptions["environment"]): void
  redactText(text: string): string
  /** The same value, not a copy, when there was nothing to take out. */
  redactJson(value: JsonValue): { readonly value: JsonValue; readonly hasChanged: boolean }
  /** Secrets become as many `*`, so that every offset stays true. The same bytes, not a copy, when there were none. */
  redactBytes(bytes: Buffer): Buffer
  /** How much before and after a range has to be redacted together with it, so that no secret is cut by its borders. */
  readonly contextBytes: number
  /** How many bytes at the end may be the beginning of a secret that goes on after them. */
  countUnfinished(bytes: Buffer): number
  /** At most so many are ever counted. */
  readonly longestUnfinishedBytes: number
}

export interface RedactorOptions {
  /** The values of its secret-looking variables are secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

const REDACTED = "[redacted]"
const CONTEXT_BYTES = 16 * 1_024
const LONGEST_UNFINISHED_BYTES = 256
const STAR = 42

export function createRedactor(options: RedactorOptions): Redactor {
  const finder = createSecretFinder(options.environment)

  function redactText(text: string): string {
    const ranges = finder.find(text, "text")
    if (ranges.length === 0) return text
    let result = ""
    let position = 0
    for (const { start, end } of ranges) {
      result += text.slice(position, start) + REDACTED
      position = end
    }
    return result + text.slice(position)
  }

  /** A list of texts, as headers have it, is looked at like one text. */
  function redactField(name: string, value: JsonValue): JsonValue {
    if (typeof value === "string") return isSecretField(name, value) ? REDACTED : redactText(value)
    if (typeof value !== "object" || value === null) return value
    return isList(value)
      ? redactList(value, (item) => (typeof item === "string" ? redactField(name, item) : redactValue(item)))
      : redactValue(value)
  }

  function redactValue(value: JsonValue): JsonValue {
    if (typeof value === "string") return redactText(value)
    if (typeof value !== "object" || value === null) return value
    if (isList(value)) return redactList(value, redactValue)
    let changed: Record<string, JsonValue> | undefined
    for (const name of Object.keys(value)) {
      const field = value[name] ?? null
      const redacted = redactField(name, field)
      if (redacted !== field) (changed ??= { ...value })[name] = redacted
    }
    return changed ?? value
  }

  return {
    learn: finder.learn,
    contextBytes: CONTEXT_BYTES,
    longestUnfinishedBytes: LONGEST_UNFINISHED_BYTES,
    redactText,
    redactJson(value) {
      const redacted = redactValue(value)
      return { value: redacted, hasChanged: redacted !== value }
    },
    redactBytes(bytes) {
      const ranges = finder.find(bytes.toString("latin1"), "bytes")
      if (ranges.length === 0) return bytes
      const copy = Buffer.from(bytes)
      for (const { start, end } of ranges) copy.fill(STAR, start, end)
      return copy
    },
    countUnfinished: (bytes) => finder.countUnfinished(bytes.subarray(-LONGEST_UNFINISHED_BYTES).toString("latin1")),
  }
}

const isList = (value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] => Array.isArray(value)

function redactList(list: readonly JsonValue[], redact: (item: JsonValue) => JsonValue): readonly JsonValue[] {
  const items = list.map(redact)
  return items.some((item, index) => item !== list[index]) ? items : list
}
