import { SECRET_VARIABLE_NAME } from "./secret-names.ts"
import { SECRET_PATTERNS, SUSPICION, UNFINISHED_SECRET } from "./secret-patterns.ts"

/** From the first character of a secret to the one after its last. */
export interface SecretRange {
  readonly start: number
  readonly end: number
}

type Environment = Readonly<Record<string, string | undefined>>

/** `bytes`: one character stands for one byte. */
type Form = "text" | "bytes"

type KnownValue = Readonly<Record<Form, string>>

export interface SecretFinder {
  /** The values of its secret-looking variables are secrets from now on. */
  learn(environment: Environment): void
  /** In order and apart from each other. */
  find(text: string, form: Form): readonly SecretRange[]
  countUnfinished(bytes: string): number
}

const SHORTEST_VALUE_CHARACTERS = 8
const MOST_LEARNED_VALUES = 256
/** The beginning of a value is held back from here on: less of it gives nothing away. */
const SHORTEST_BEGINNING_CHARACTERS = 3
const NOTHING: readonly SecretRange[] = []

export function createSecretFinder(environment: Environment): SecretFinder {
  /** Known from the beginning, and for good. */
  const own = toSecretValues(environment)
  const learned = new Map<string, KnownValue>()
  let known = own

  function learn(more: Environment): void {
    for (const value of toSecretValues(more)) {
      if (own.some(({ text }) => text === value.text)) continue
      // Again the newest: what is in use is not forgotten.
      learned.delete(value.text)
      learned.set(value.text, value)
    }
    // A program that makes up secrets for ever must not slow everything down.
    for (const oldest of learned.keys()) {
      if (learned.size <= MOST_LEARNED_VALUES) break
      learned.delete(oldest)
    }
    known = [...own, ...learned.values()]
  }

  function findValues(text: string, form: Form): SecretRange[] {
    const ranges: SecretRange[] = []
    for (const { [form]: value } of known) {
      for (let start = text.indexOf(value); start >= 0; start = text.indexOf(value, start + value.length)) {
        ranges.push({ start, end: start + value.length })
      }
    }
    return ranges
  }

  return {
    learn,
    find(text, form) {
      const ranges = findValues(text, form)
      if (SUSPICION.test(text)) ranges.push(...findShapes(text))
      return ranges.length < 2 ? ranges : merge(ranges)
    },
    countUnfinished(bytes) {
      const shape = UNFINISHED_SECRET.exec(bytes)
      const beginnings = known.map((value) => countBeginning(bytes, value.bytes))
      return Math.max(shape ? bytes.length - shape.index : 0, ...beginnings)
    },
  }
}

function findShapes(text: string): readonly SecretRange[] {
  let ranges: SecretRange[] | undefined
  for (const pattern of SECRET_PATTERNS) {
    for (const match of text.matchAll(pattern)) {
      const [whole, ...readable] = match
      const start = readable.reduce((position, group) => position + (group?.length ?? 0), match.index)
      ranges ??= []
      ranges.push({ start, end: match.index + whole.length })
    }
  }
  return ranges ?? NOTHING
}

function merge(ranges: SecretRange[]): SecretRange[] {
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
