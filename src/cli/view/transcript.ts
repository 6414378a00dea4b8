import { stripVTControlCharacters } from "node:util"
import { cutToWidth, widthOf } from "../screen/text-width.ts"

const MOST_LINES = 200
/** A line that is longer is kept in parts. */
const LONGEST_LINE = 8_192

export type Transcript = ReturnType<typeof createTranscript>

/** The last of what one agent said and did, as it would stand on a screen. */
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
    /** The line that was begun and not ended. */
    rest: (): string => rest,
    /** Whole lines. A line that is being written stays below what is printed meanwhile, as on the screen. */
    print: (text: string): void => add(text.split("\n").map((line) => line.slice(0, LONGEST_LINE))),
    /** A piece of a line, which later ones continue. */
    write(text: string): void {
      const written = `${rest}${text}`.split("\n")
      rest = written.pop() ?? ""
      if (written.length > 0) add(written.map((line) => line.slice(0, LONGEST_LINE)))
      if (rest.length > LONGEST_LINE) endLine()
    },
    /** The last whole lines that fit into so many rows; of a single one that does not, its beginning. */
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
