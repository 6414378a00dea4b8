import { plain } from "../format.ts"
import type { Style } from "../screen/style.ts"
import type { Question } from "./read-answer.ts"

/** The detail first, so that it stands above what is asked about it. */
export function formatPersonQuestion(question: Question, style: Style): string {
  const { text, detail, options = [], kind, isMultiple, fallback } = question
  const lines = [
    ...(detail === undefined
      ? []
      : plain(detail)
          .split("\n")
          .map((line) => paintDiff(`  ${line}`, style))),
    style.bold(plain(text)),
    ...options.map((option, index) => `  ${index + 1}) ${plain(option)}`),
    style.dim(`  ${toHint(kind, isMultiple ?? false, fallback)}`),
  ]
  return lines.join("\n")
}

function toHint(kind: Question["kind"], isMultiple: boolean, fallback: string | undefined): string {
  const how =
    kind === "approval"
      ? "yes or no"
      : kind === "text"
        ? "your own words"
        : isMultiple
          ? "numbers, separated by commas"
          : "the number or the words of one; y, n and a stand for yes, no and always"
  const enter = fallback === undefined ? "" : `; enter alone: ${plain(fallback)}`
  return `(${how}${enter}; Ctrl+C declines)`
}

function paintDiff(line: string, style: Style): string {
  if (/^ {2}\+(?!\+\+)/.test(line)) return style.green(line)
  return /^ {2}-(?!--)/.test(line) ? style.red(line) : style.dim(line)
}
