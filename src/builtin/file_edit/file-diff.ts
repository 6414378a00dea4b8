import type { StructuredPatch } from "diff"
import { toText } from "./text-content.ts"
import type { PlannedChange } from "./working-files.ts"

export interface ChangeSize {
  readonly addedLines: number
  readonly removedLines: number
}

const NOWHERE = "/dev/null"
const CONTEXT_LINES = 3
const LONGEST_DIFF = 64 * 1024
/** Comparing takes time in the square of this. Of two texts with more differences only the new one is shown. */
const MOST_DIFFERENCES = 1_500

/** As `toDiff`, of which a long one is cut: for those who do not decide about the change. */
export async function toShortDiff(change: PlannedChange): Promise<string> {
  const text = await toDiff(change)
  if (text.length <= LONGEST_DIFF) return text
  const shown = text.slice(0, text.lastIndexOf("\n", LONGEST_DIFF) + 1)
  return `${shown}[${text.length - shown.length} of ${text.length} characters of this diff are not shown]\n`
}

/** A unified diff for people: what the change does, in characters that do nothing to the screen that shows it. */
export async function toDiff(change: PlannedChange): Promise<string> {
  const { FILE_HEADERS_ONLY, formatPatch } = await import("diff")
  const patch = await toPatch(change)
  if (patch === undefined) return toReplacement(change)
  if (patch.hunks.length === 0) return `${change.place.path}: nothing changes.`
  return makeVisible(formatPatch(patch, FILE_HEADERS_ONLY))
}

/** Undefined when the lines cannot be compared. */
export async function measureChange(change: PlannedChange): Promise<ChangeSize | undefined> {
  const lines = (await toPatch(change))?.hunks.flatMap((hunk) => hunk.lines)
  if (!lines) return undefined
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
  return { addedLines: count("+"), removedLines: count("-") }
}

async function toPatch({ place, before, after }: PlannedChange): Promise<StructuredPatch | undefined> {
  const { structuredPatch } = await import("diff")
  const oldText = before ? toText(before.bytes) : ""
  const newText = after ? toText(after) : ""
  if (oldText === undefined || newText === undefined) return undefined
  const oldName = before ? `a/${place.path}` : NOWHERE
  const newName = after ? `b/${place.path}` : NOWHERE
  const isComparison = oldText !== "" && newText !== ""
  const options = { context: CONTEXT_LINES, maxEditLength: isComparison ? MOST_DIFFERENCES : Number.MAX_SAFE_INTEGER }
  return structuredPatch(oldName, newName, oldText, newText, undefined, undefined, options)
}

/** The text in place of a comparison, for a file that is not text or for texts that have too little in common. */
async function toReplacement(change: PlannedChange): Promise<string> {
  const { place, before, after } = change
  const size = (bytes: Buffer | undefined): string => (bytes ? `${bytes.length} bytes` : "no file")
  const summary = `${place.path}: from ${size(before?.bytes)} to ${size(after)}`
  if (!before || !after || toText(after) === undefined) return `${summary}. It is not text, so nothing more is shown.`
  return `${summary}. The whole of it is replaced by this:\n${await toDiff({ place, before: undefined, after })}`
}

/** Control characters as their pictures, and marks that turn the direction of text as their codes. */
function makeVisible(text: string): string {
  return text
    .replace(/[^\P{Cc}\n\t\u007f-\u009f]/gu, (character) => String.fromCodePoint(0x2400 + character.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, toCode)
}

function toCode(character: string): string {
  return `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}>`
}
