import { MeanwhileError } from "../../../base/error.ts"

/** True if PostgreSQL can keep it as it is: without U+0000 and without half characters. */
export function isStorable(wanted: string | number | object): boolean {
  if (typeof wanted === "string") return !wanted.includes("\0") && wanted.isWellFormed()
  return typeof wanted === "number" || Object.values(wanted).every(isStorable)
}

/** An id or a key. One that cannot be kept as it is would be found again as another. */
export function toStoredKey<Key extends string | null>(key: Key): Key {
  if (key === null || isStorable(key)) return key
  const text = `${JSON.stringify(key)} cannot be kept in PostgreSQL. Use ids and names without U+0000 and without broken characters.`
  throw new MeanwhileError("invalid_input", text)
}

/** Text for people, with a sign in place of what cannot be kept. */
export function toStoredText(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed()
}

/** Leaves out keys that PostgreSQL cannot hold: they are not in the store. */
export function storableOf<Wanted extends string | number | object>(wanted: ReadonlyMap<string, Wanted>): Wanted[] {
  return [...wanted.values()].filter(isStorable)
}
