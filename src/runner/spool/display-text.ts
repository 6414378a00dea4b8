/**
 * The text a terminal would show at the end of each line of output: without colours and cursor movements, a
 * progress bar in its last state. Movements to other lines are left out.
 */
export function toDisplayText(text: string): string {
  if (!CONTROL.test(text)) return text
  return text
    .split("\n")
    .map((line) => (CONTROL.test(line) ? toDisplayLine(line) : line))
    .join("\n")
}

const CONTROL = /(?![\t\n])\p{Cc}/u
const PLAIN = /[\t\P{Cc}]+/uy

const ESCAPE = "\u001b"
const BELL = "\u0007"
const CONTROL_SEQUENCE = new RegExp(`${ESCAPE}\\[([0-9;:<=>?]*)[ -/]*([@-~])`, "y")
/** Titles, links and other strings to the terminal, up to their end mark or the end of what we have. */
const STRING_SEQUENCE = new RegExp(`${ESCAPE}[\\]PX^_][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\|$)`, "y")
/** A short escape, or the beginning of a sequence that was cut at the end of the text. */
const OTHER_SEQUENCE = new RegExp(`${ESCAPE}(?:\\[[0-9;:<=>?]*[ -/]*|[ -/]*[0-~]?)`, "y")

interface Line {
  cells: string[]
  cursor: number
}

function toDisplayLine(text: string): string {
  const line: Line = { cells: [], cursor: 0 }
  for (let position = 0; position < text.length; ) {
    const found = matchAt(text, position)
    if (found?.kind === "plain") put(line, found.text)
    else if (found?.kind === "control") control(line, found.command, found.count)
    else if (!found) move(line, text[position])
    position += found?.text.length ?? 1
  }
  return line.cells.map((cell) => cell ?? " ").join("")
}

type Piece =
  | { readonly kind: "plain" | "skipped"; readonly text: string }
  | { readonly kind: "control"; readonly text: string; readonly command: string; readonly count: number }

function matchAt(text: string, position: number): Piece | undefined {
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position
    return pattern.exec(text)
  }
  const plain = match(PLAIN)
  if (plain) return { kind: "plain", text: plain[0] }
  const sequence = match(CONTROL_SEQUENCE)
  if (sequence) {
    const [whole, parameters = "", command = ""] = sequence
    return { kind: "control", text: whole, command, count: Number.parseInt(parameters, 10) || 0 }
  }
  const skipped = match(STRING_SEQUENCE) ?? match(OTHER_SEQUENCE)
  return skipped ? { kind: "skipped", text: skipped[0] } : undefined
}

function put(line: Line, text: string): void {
  for (const character of text) {
    while (line.cells.length < line.cursor) line.cells.push(" ")
    line.cells[line.cursor++] = character
  }
}

function move(line: Line, character: string | undefined): void {
  if (character === "\r") line.cursor = 0
  else if (character === "\b") line.cursor = Math.max(line.cursor - 1, 0)
}

/** A cursor that is sent beyond any screen stays here: a hostile number must not cost memory. */
const WIDEST_COLUMN = 10_000

function control(line: Line, command: string, count: number): void {
  const distance = Math.max(count, 1)
  if (command === "C") line.cursor = Math.min(line.cursor + distance, WIDEST_COLUMN)
  else if (command === "D") line.cursor = Math.max(line.cursor - distance, 0)
  else if (command === "G") line.cursor = Math.min(distance - 1, WIDEST_COLUMN)
  else if (command === "K" && count === 0) line.cells.length = Math.min(line.cells.length, line.cursor)
  else if (command === "K" && count === 2) line.cells = []
  else if (command === "K") line.cells.fill(" ", 0, line.cursor + 1)
}
