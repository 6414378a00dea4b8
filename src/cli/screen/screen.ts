import type { Interface } from "node:readline"
import type { Style } from "./style.ts"

/**
 * Where the program writes. Callers pass clean text: see `plain`. Lines may come while a person types and while an
 * answer is being written, and disturb neither.
 */
export interface Screen {
  /** True for a terminal, where lines can be drawn again. */
  readonly isLive: boolean
  readonly columns: number
  readonly rows: number
  readonly style: Style
  /** Writes whole lines. */
  print(text: string): void
  /** Writes the text as it is, without an added line end. */
  write(text: string): void
  /** Ends the line that was begun by `write`, if there is one. */
  endLine(): void
  /** Shows the current activity below everything, until the next call. Does nothing where lines cannot be redrawn. */
  showActivity(lines: readonly string[]): void
  /** Keeps the prompt below everything. Contract: the reader of the lines calls `enterLine` for each. */
  attach(prompt: Interface): void
  /** Shows a line that was typed and entered as a finished one. */
  enterLine(line: string): void
  /** Draws the prompt again, after its text has changed. */
  refresh(): void
  /** Draws everything below the finished lines again, at the cursor, after others have written to the terminal. */
  drawAnew(): void
  detach(): void
}

export interface ScreenOutput extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}
