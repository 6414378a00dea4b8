import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { Survivors } from "../../task/stop.ts"
import { isSecretField, SECRET_VARIABLE_NAME } from "./secret-names.ts"
import { findPrivateKeys, type SecretRange } from "./private-keys.ts"
import { SECRET_PATTERNS, SUSPICION, UNFINISHED_SECRET, UNMISTAKABLE_PATTERNS } from "./secret-patterns.ts"

/** Takes secrets out of everything that is stored, logged or shown. A text without secrets costs little. */
export interface Redactor {
  /** Adds the secret values of a command's environment: the command may print them. */
  learn(environment: Environment): void
  redactText(text: string): string
  /**
   * For what a person decides about. Hides no more than known secrets: values of this process's own environment, and texts that
   * can be nothing but a key. Whatever else looks like a secret may be what the call runs.
   */
  redactShown(text: string): string
  /** Returns the same value, not a copy, when it holds no secret. */
  redactJson(value: JsonValue): { readonly value: JsonValue; readonly hasChanged: boolean }
  /** Replaces every byte of a secret with `*`, so that offsets stay true. Returns the same buffer when it holds no secret. */
  redactBytes(bytes: Buffer): Buffer
  /** How many bytes before and after a range must be redacted with it, so that its borders cut no secret. */
  readonly contextBytes: number
  /** How many bytes at the end may be the beginning of a secret that goes on after them. */
  countUnfinished(bytes: Buffer): number
  /** The most that `countUnfinished` returns. */
  readonly longestUnfinishedBytes: number
}

type Environment = Readonly<Record<string, string | undefined>>

const REDACTED = "[redacted]"
const CONTEXT_BYTES = 16 * 1_024
const LONGEST_UNFINISHED_BYTES = 256
const STAR = 42

/** Treats the values of the environment's secret-looking variables as secrets. */
export function createRedactor({ environment }: { readonly environment: Environment }): Redactor {
  const finder = createSecretFinder(environment)

  function replace(text: string, ranges: readonly SecretRange[]): string {
    if (ranges.length === 0) return text
    let result = ""
    let position = 0
    for (const { start, end } of ranges) {
      result += text.slice(position, start) + REDACTED
      position = end
    }
    return result + text.slice(position)
  }

  const redactText = (text: string): string => replace(text, finder.find(text, "text"))

  /** Checks each text of a list under the name of the field, since headers may be lists. */
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
    redactShown: (text) => replace(text, finder.findShown(text)),
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

/** Redacts the command lines of survivors, which are stored and shown. */
export function redactSurvivors(redactor: Redactor, survivors: Survivors): Survivors {
  if (survivors === "unknown") return survivors
  return survivors.map(({ pid, command }) => ({ pid, command: redactor.redactText(command) }))
}

const isList = (value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] => Array.isArray(value)

function redactList(list: readonly JsonValue[], redact: (item: JsonValue) => JsonValue): readonly JsonValue[] {
  const items = list.map(redact)
  return items.some((item, index) => item !== list[index]) ? items : list
}

/** `bytes`: one character stands for one byte. */
type Form = "text" | "bytes"

type KnownValue = Readonly<Record<Form, string>>

const SHORTEST_VALUE_CHARACTERS = 8
const MOST_LEARNED_VALUES = 256
/** A shorter beginning of a value is not held back: it gives nothing away. */
const SHORTEST_BEGINNING_CHARACTERS = 3

function createSecretFinder(environment: Environment) {
  /** Secrets of the redactor's own environment, which it never forgets. */
  const own = toSecretValues(environment)
  const learned = new Map<string, KnownValue>()
  let known = own

  /** Treats the values of the secret-looking variables of `more` as secrets from now on. */
  function learn(more: Environment): void {
    for (const value of toSecretValues(more)) {
      if (own.some(({ text }) => text === value.text)) continue
      // Moves the value to the end of the map, so that values in use are forgotten last.
      learned.delete(value.text)
      learned.set(value.text, value)
    }
    // A program that keeps making up secrets must not slow down every search.
    for (const oldest of learned.keys()) {
      if (learned.size <= MOST_LEARNED_VALUES) break
      learned.delete(oldest)
    }
    known = [...own, ...learned.values()]
  }

  function findValues(text: string, form: Form, values = known): SecretRange[] {
    const ranges: SecretRange[] = []
    for (const { [form]: value } of values) {
      for (let start = text.indexOf(value); start >= 0; start = text.indexOf(value, start + value.length)) {
        ranges.push({ start, end: start + value.length })
      }
    }
    return ranges
  }

  return {
    learn,
    /** Returns ranges in order that neither overlap nor touch. */
    find(text: string, form: Form): readonly SecretRange[] {
      const values = findValues(text, form)
      if (!SUSPICION.test(text)) return merge(values)
      return merge([...values, ...findPrivateKeys(text), ...findShapes(text, SECRET_PATTERNS)])
    },
    /** Without the values that were learned: a model chooses them with the variables of its commands. */
    findShown(text: string): readonly SecretRange[] {
      return merge([...findValues(text, "text", own), ...findShapes(text, UNMISTAKABLE_PATTERNS)])
    },
    countUnfinished(bytes: string): number {
      const shape = UNFINISHED_SECRET.exec(bytes)
      const beginnings = known.map((value) => countBeginning(bytes, value.bytes))
      return Math.max(shape ? bytes.length - shape.index : 0, ...beginnings)
    },
  }
}

function findShapes(text: string, patterns: readonly RegExp[]): readonly SecretRange[] {
  const ranges: SecretRange[] = []
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      const [whole, ...readable] = match
      const start = readable.reduce((position, group) => position + (group?.length ?? 0), match.index)
      ranges.push({ start, end: match.index + whole.length })
    }
  }
  return ranges
}

function merge(ranges: readonly SecretRange[]): readonly SecretRange[] {
  if (ranges.length < 2) return ranges
  const merged: { start: number; end: number }[] = []
  for (const range of ranges.toSorted((left, right) => left.start - right.start)) {
    const last = merged.at(-1)
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end)
    else merged.push({ ...range })
  }
  return merged
}

function toSecretValues(environment: Environment): readonly KnownValue[] {
  const values = new Set<string>()
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || value.length < SHORTEST_VALUE_CHARACTERS || !SECRET_VARIABLE_NAME.test(name)) continue
    values.add(value)
    values.add(encodeURIComponent(value))
    values.add(JSON.stringify(value).slice(1, -1))
  }
  return [...values].map((text) => ({ text, bytes: Buffer.from(text).toString("latin1") }))
}

function countBeginning(bytes: string, value: string): number {
  for (let length = Math.min(value.length - 1, bytes.length); length >= SHORTEST_BEGINNING_CHARACTERS; length--) {
    if (bytes.endsWith(value.slice(0, length))) return length
  }
  return 0
}
