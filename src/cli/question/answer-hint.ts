import { toLine } from "../format/format.ts"
import type { AskedRoom } from "./asked-rows.ts"
import { alwaysOption, type Question } from "./read-answer.ts"

const ROWS_BELOW = 15
const FEWEST_ROWS = 2

/** The answers that can be typed. */
export function describeAnswers(question: Question): string {
  const { kind, options = [], isMultiple = false, allowsText = false } = question
  if (kind === "text") return "your own words"
  if (kind === "approval") return "y or n"
  const own = allowsText ? ", or your own words" : ""
  const numbers = `1 to ${options.length}`
  if (isMultiple) return `numbers from ${numbers}, separated by commas${own}`
  const letters = toLetters(options)
  if (letters.length > 0) return `${letters.join(", ")} or a number from ${numbers}${own}`
  return `a number from ${numbers}${own || ", or the words of one"}`
}

/** The hint below the question. */
export function formatHint(question: Question): string {
  const { fallback } = question
  const enter = fallback === undefined ? "" : `; enter alone: ${toLine(fallback)}`
  return `(${describeAnswers(question)}${enter}; Ctrl+C declines)`
}

/** The hint below a question of which only the two ends were shown. */
export function formatHeldHint(rows: number): string {
  return `(too long for this screen, ${rows} lines. s: show all, then you can say yes; n: no; Ctrl+C declines)`
}

/** The line that stands beside the choices where the beginning of what is asked has left the screen. */
export function formatLength(rows: number, room: AskedRoom): readonly string[] {
  return Number.isFinite(room.columns) && rows > roomForAsked(room)
    ? [`  (what is asked takes ${rows} lines: its beginning is further up)`]
    : []
}

/** The rows that what is asked may take: below it stand its choices, what the agents do, and the prompt. */
export function roomForAsked({ rows }: AskedRoom): number {
  return Math.max(FEWEST_ROWS, rows - ROWS_BELOW)
}

/**
 * The letters that stand for options of this question. Several may begin with "always": the hint says which one `a` is.
 */
function toLetters(options: readonly string[]): readonly string[] {
  const always = alwaysOption(options)
  return [
    ...(options.includes("yes") ? ["y"] : []),
    ...(options.includes("no") ? ["n"] : []),
    ...(always === undefined ? [] : [`a (that is ${options.indexOf(always) + 1})`]),
  ]
}
