import { stripVTControlCharacters } from "node:util"
import { cutToWidth, widthOf } from "../screen/text-width.ts"

const MOST_LINES = 200
/** A line that is longer is kept in parts. */
const LONGEST_LINE = 8_192

/** The last of what one agent said and did, as it would stand on a screen. */
export interface Transcript {
  /** Whole lines. */
  print(text: string): void
  /** A piece of a line, which later ones continue. */
  write(text: string): void
  endLine(): void
  /** The line that was begun and not ended. */
  rest(): string
  /** The last whole lines that fit into so many rows; of a single one that does not, its beginning. */
  last(rows: number, columns: number): readonly string[]
}

export function createTranscript(): Transcript {
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
    rest: () => rest,
    // A line that is being written stays below what is printed meanwhile, as on the screen.
    print: (text) => add(text.split("\n").map((line) => line.slice(0, LONGEST_LINE))),
    write(text) {
      const written = `${rest}${text}`.split("\n")
      rest = written.pop() ?? ""
      if (written.length > 0) add(written.map((line) => line.slice(0, LONGEST_LINE)))
      if (rest.length > LONGEST_LINE) endLine()
    },
    last(rows, columns) {
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
