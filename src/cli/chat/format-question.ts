import { plain } from "../format.ts"
import type { Style } from "../screen/style.ts"
import { formatHint } from "./answer-hint.ts"
import type { Question } from "./read-answer.ts"

/** The detail first, so that it stands above what is asked about it. */
export function formatPersonQuestion(question: Question, style: Style): string {
  const { text, detail, options = [] } = question
  const lines = [
    ...(detail === undefined
      ? []
      : plain(detail)
          .split("\n")
          .map((line) => paintDiff(`  ${line}`, style))),
    style.bold(plain(text)),
    ...options.map((option, index) => `  ${index + 1}) ${plain(option)}`),
    style.dim(`  ${formatHint(question)}`),
  ]
  return lines.join("\n")
}

function paintDiff(line: string, style: Style): string {
  if (/^ {2}\+(?!\+\+)/.test(line)) return style.green(line)
  return /^ {2}-(?!--)/.test(line) ? style.red(line) : style.dim(line)
}
