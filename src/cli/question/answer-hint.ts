import { plain } from "../format/format.ts"
import { alwaysOption, type Question } from "./read-answer.ts"

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
  const enter = fallback === undefined ? "" : `; enter alone: ${plain(fallback)}`
  return `(${describeAnswers(question)}${enter}; Ctrl+C declines)`
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
