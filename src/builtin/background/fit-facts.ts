import { toFairShare } from "../../base/fair-share.ts"
import type { JsonObject, JsonValue } from "../../base/json.ts"

/** A field up to so long stays as it is. */
const SHORT = 120
const LEAST_ROOM = 80

/** Cuts the longest of what is told of several tasks, so that all of it together takes so many characters at the most. */
export function fitFacts(all: readonly JsonObject[], characters: number): readonly JsonObject[] {
  const lengths = all.map((facts) => JSON.stringify(facts).length)
  const share = toFairShare(lengths, characters)
  return all.map((facts, index) => ((lengths[index] ?? 0) > share ? cutFacts(facts, share) : facts))
}

function cutFacts(facts: JsonObject, share: number): JsonObject {
  const fields = Object.entries(facts).map(([name, value]) => ({ name, value, text: toText(value) }))
  const long = fields.filter(({ text }) => text.length > SHORT)
  const shortLength = fields.reduce((sum, { name, text }) => sum + name.length + Math.min(text.length, SHORT), 0)
  const room = Math.max(Math.floor((share - shortLength) / Math.max(long.length, 1)), LEAST_ROOM)
  return Object.fromEntries(
    fields.map(({ name, value, text }) => [name, text.length > SHORT ? cutText(text, room) : value]),
  )
}

function toText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** Head and tail: where it began and how it ended say more than the middle. */
function cutText(text: string, room: number): string {
  if (text.length <= room) return text
  const half = Math.floor(room / 2)
  const left = text.length - 2 * half
  return `${text.slice(0, half)} [… ${left} characters left out …] ${text.slice(-half)}`.toWellFormed()
}
