import { MARGIN, toQuotedText } from "../../base/quoted-text.ts"
import { toVisibleText } from "../../base/visible-text.ts"
import { breakAt, widthOf } from "../screen/text-width.ts"
import type { Question } from "./read-answer.ts"

const INDENT = "  "
const FEWEST_COLUMNS = 20
const TAB = "    "

/** How wide and how high the screen is on which a question is shown. */
export interface AskedRoom {
  readonly columns: number
  readonly rows: number
}

/** The rows of all that a question is about. Only a question for permission has lines of our own among them. */
export function toDetailRows({ detail = "", isPermission }: Question, columns: number): readonly string[] {
  if (detail === "") return []
  const text = toVisibleText(detail)
  return (isPermission ? text : toQuotedText(text)).split("\n").flatMap((line) => toAskedRows(line, columns))
}

/** The rows of a question's words. Lines that follow the first have the margin. */
export function toTextRows({ text }: Pick<Question, "text">, columns: number): readonly string[] {
  const [first = "", ...more] = toVisibleText(text).split("\n")
  return [
    ...toAskedRows(first, columns, ""),
    ...(more.length === 0 ? [] : toQuotedText(more.join("\n")).split("\n")).flatMap((line) =>
      toAskedRows(line, columns),
    ),
  ]
}

/** The rows of one line: where the screen breaks it, each further row has the margin. */
export function toAskedRows(line: string, columns: number, indent = INDENT): readonly string[] {
  const isQuoted = line.startsWith(MARGIN)
  const margin = `${INDENT}${MARGIN}`
  const room = Math.max(FEWEST_COLUMNS, columns) - widthOf(margin)
  let rest = (isQuoted ? line.slice(MARGIN.length) : line).replaceAll("\t", TAB)
  const rows: string[] = []
  do {
    const end = widthOf(rest) <= room ? rest.length : breakAt(rest, room)
    rows.push(`${rows.length > 0 || isQuoted ? margin : indent}${rest.slice(0, end).trimEnd()}`)
    rest = rest.slice(end)
  } while (rest !== "")
  return rows
}
