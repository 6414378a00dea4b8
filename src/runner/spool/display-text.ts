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

const ESCAPE = "\u001b"
const BELL = "\u0007"
/** Matches one piece of a line. The alternatives are tried in this order. */
const PIECE = new RegExp(
  [
    "([\\t\\P{Cc}]+)",
    `${ESCAPE}\\[([0-9;:<=>?]*)[ -/]*([@-~])`,
    // Titles, links and other strings to the terminal, up to their end mark or the end of what we have.
    `${ESCAPE}[\\]PX^_][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\|$)`,
    // A short escape, or the beginning of a sequence that was cut at the end of the text.
    `${ESCAPE}(?:\\[[0-9;:<=>?]*[ -/]*|[ -/]*[0-~]?)`,
    "([\\r\\u0008])",
  ].join("|"),
  "gu",
)

interface Line {
  cells: string[]
  cursor: number
}

function toDisplayLine(text: string): string {
  const line: Line = { cells: [], cursor: 0 }
  for (const [, plain, parameters = "", command, movement] of text.matchAll(PIECE)) {
    if (plain !== undefined) put(line, plain)
    else if (command !== undefined) control(line, command, Number.parseInt(parameters, 10) || 0)
    else if (movement === "\r") line.cursor = 0
    else if (movement !== undefined) line.cursor = Math.max(line.cursor - 1, 0)
  }
  return line.cells.map((cell) => cell ?? " ").join("")
}

function put(line: Line, text: string): void {
  for (const character of text) {
    while (line.cells.length < line.cursor) line.cells.push(" ")
    line.cells[line.cursor++] = character
  }
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
