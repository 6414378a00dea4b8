import { MeanwhileError, toErrorMessage } from "../../../base/error.ts"

/** True if PostgreSQL can store the value unchanged: without U+0000 and without half characters. */
export function isStorable(wanted: string | number | object): boolean {
  if (typeof wanted === "string") return !wanted.includes("\0") && wanted.isWellFormed()
  return typeof wanted === "number" || Object.values(wanted).every(isStorable)
}

/** An id or a key. One that cannot be stored unchanged is refused: it would be found again as another. */
export function toStoredKey<Key extends string | null>(key: Key, field: string): Key {
  if (key === null || isStorable(key)) return key
  const text = `The \`${field}\` ${JSON.stringify(key)} cannot be kept in PostgreSQL. Use ids and names without U+0000 and without broken characters.`
  throw new MeanwhileError("invalid_input", text, { field })
}

/**
 * A value as JSON. The error for a value that is too long for a string is passed on, to callers who can write less at
 * once.
 */
export function toStoredJson(value: unknown, field: string): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (isTooLong(error)) throw error
    const text = `The \`${field}\` cannot be kept: it is no JSON (${toErrorMessage(error)}).`
    throw new MeanwhileError("invalid_input", text, { field }, { cause: error })
  }
}

/** True if a text became longer than a string can be. */
export function isTooLong(error: unknown): boolean {
  if (error instanceof RangeError) return error.message.includes("string length")
  return error instanceof Error && isTooLong(error.cause)
}

/** Text for people, with U+FFFD in place of characters that cannot be stored. */
export function toStoredText(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed()
}
