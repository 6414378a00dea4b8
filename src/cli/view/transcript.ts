import { stripVTControlCharacters } from "node:util"
import { cutToWidth, widthOf } from "../screen/text-width.ts"

const MOST_LINES = 200
/** A longer line is cut, or kept in parts while it is being written. */
const LONGEST_LINE = 8_192

export type Transcript = ReturnType<typeof createTranscript>

/** The last lines of what one agent said and did, as they would stand on a screen. */
export function createTranscript() {
  let lines: string[] = []
  let rest = ""

  function add(more: readonly string[]): void {
    lines = [...lines, ...more].slice(-MOST_LINES)
  }

  function endLine(): void {
    if (rest === "") return
    add([rest])
    rest = ""
  }

  return {
    endLine,
    /** The unfinished line. */
    rest: (): string => rest,
    /** Adds whole lines. An unfinished line stays below lines that are printed meanwhile, as on the screen. */
    print: (text: string): void => add(text.split("\n").map((line) => line.slice(0, LONGEST_LINE))),
    /** Adds a piece of text; later pieces continue its last line. */
    write(text: string): void {
      const written = `${rest}${text}`.split("\n")
      rest = written.pop() ?? ""
      if (written.length > 0) add(written.map((line) => line.slice(0, LONGEST_LINE)))
      if (rest.length > LONGEST_LINE) endLine()
    },
    /** The last whole lines that fit into so many rows; if not even the last one fits, its beginning. */
    last(rows: number, columns: number): readonly string[] {
      let room = rows
      let first = lines.length
      while (first > 0) {
        room -= Math.max(1, Math.ceil(widthOf(lines[first - 1] ?? "") / columns))
        if (room < 0) break
        first -= 1
      }
      if (first < lines.length || lines.length === 0) return lines.slice(first)
      return [cutToWidth(stripVTControlCharacters(lines.at(-1) ?? ""), rows * columns)]
    },
  }
}
