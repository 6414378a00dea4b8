import { shorten, shortenMiddle } from "../../base/shorten.ts"
import { toOneLine } from "../../base/one-line.ts"

/** Characters that a model may take for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/
const LONGEST_TITLE = 120

/** Every line of others' text is marked, so that none of it can pass for the person's words or for Meanwhile's own. */
export function quoteText(text: string, mostCharacters: number): readonly string[] {
  if (text === "") return []
  const lines = shortenMiddle(text, mostCharacters, () => "\n[…]\n").split(LINE_END)
  return lines.map((line) => `| ${line}`)
}

/** Quotes somebody's title within a line: it can neither end its quotes nor look like one of our own lines. */
export function quoteTitle(title: string): string {
  const line = toOneLine(title).replace(/["[\]]/g, (mark) => (mark === '"' ? "'" : ""))
  return `"${shorten(line, LONGEST_TITLE)}"`
}
