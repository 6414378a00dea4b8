import { stripVTControlCharacters } from "node:util"
import { widthOf } from "./text-width.ts"

/**
 * Breaks lines that are too long between words; the rest of a line begins below its text, or in the column `indent`. A
 * word that is longer than a line stays whole. Colours may stand anywhere.
 */
export function wrapWords(text: string, columns: number, indent?: number): string {
  return text
    .split("\n")
    .map((line) => (widthOf(line) <= columns ? line : wrapLine(line, columns, indent ?? indentOf(line, columns))))
    .join("\n")
}

function wrapLine(line: string, columns: number, indent: number): string {
  const rows: string[] = []
  let row = ""
  // Words with the spaces before them.
  for (const piece of line.match(/\s*\S+/g) ?? []) {
    if (row === "" || widthOf(row) + widthOf(piece) <= columns) {
      row += piece
    } else {
      rows.push(row)
      row = `${" ".repeat(indent)}${piece.trimStart()}`
    }
  }
  return [...rows, row].join("\n")
}

/** The column where a line's text begins; not so far to the right that nothing fits there. */
function indentOf(line: string, columns: number): number {
  const clean = stripVTControlCharacters(line)
  return Math.min(clean.length - clean.trimStart().length, Math.floor(columns / 2))
}
