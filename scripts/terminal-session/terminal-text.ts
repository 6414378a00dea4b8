const ESCAPE = "\u001b"
/** What follows the escape of a control sequence: its parameters and the letter that says what it does. */
const SEQUENCE = /^\[(?<parameters>[?\d;]*)(?<letter>[A-Za-z])/
const LONGEST_SEQUENCE = 32

/** The text on a terminal after what was written to it, with the lines that have scrolled off. */
export interface TerminalText {
  write(data: string): void
  lines(): readonly string[]
}

/** Understands what the program and Node's readline write: text, line ends, cursor movements and erasing. */
export function createTerminalText(columns: number): TerminalText {
  const rows: string[][] = [[]]
  let row = 0
  let column = 0
  let rest = ""

  function put(character: string): void {
    if (column === columns) {
      row += 1
      column = 0
    }
    rows[row] ??= []
    const line = rows[row] ?? []
    while (line.length < column) line.push(" ")
    line[column] = character
    column += 1
  }

  function eraseBelow(): void {
    rows[row]?.splice(column)
    rows.splice(row + 1)
  }

  function move(letter: string, parameters: string): void {
    const count = Math.max(1, Number(parameters) || 1)
    if (letter === "A") row = Math.max(0, row - count)
    if (letter === "B") row += count
    if (letter === "C") column = Math.min(columns - 1, column + count)
    if (letter === "D") column = Math.max(0, column - count)
    if (letter === "G") column = count - 1
    if (letter === "J") eraseBelow()
    if (letter === "K") rows[row]?.splice(column)
  }

  /** Returns how many characters it took; 0 when a sequence is not there as a whole yet. */
  function take(data: string): number {
    const [character = ""] = data
    if (character === ESCAPE) {
      const found = SEQUENCE.exec(data.slice(1))
      if (!found) return data.length > LONGEST_SEQUENCE ? 1 : 0
      move(found.groups?.["letter"] ?? "", found.groups?.["parameters"] ?? "")
      return 1 + found[0].length
    }
    if (character === "\r") column = 0
    else if (character === "\n") row += 1
    else if (character >= " ") put(character)
    return character.length
  }

  return {
    write(data) {
      rest += data
      while (rest !== "") {
        const taken = take(rest)
        if (taken === 0) return
        rest = rest.slice(taken)
      }
    },
    // Rows that the cursor passed over without writing are holes of the array.
    lines: () => Array.from(rows, (line: string[] | undefined) => line?.join("").trimEnd() ?? ""),
  }
}
