import type { Interface } from "node:readline"
import type { Style } from "./style.ts"

/**
 * Where the program writes. What it is given is clean: see `plain`. Lines may come while a person types and while an
 * answer is being written: neither is disturbed.
 */
export interface Screen {
  /** A terminal, where lines can be drawn again. */
  readonly isLive: boolean
  readonly columns: number
  readonly rows: number
  readonly style: Style
  /** Whole lines. */
  print(text: string): void
  /** Exactly as it is, without an added line end. */
  write(text: string): void
  /** Ends the line that was begun by `write`, if there is one. */
  endLine(): void
  /** Shows the current activity below everything, until the next call. Does nothing where lines cannot be redrawn. */
  showActivity(lines: readonly string[]): void
  /** Keeps the prompt below everything. Contract: the reader of the lines calls `enterLine` for each. */
  attach(prompt: Interface): void
  /** The line that was typed and entered. */
  enterLine(line: string): void
  /** Draws the prompt again, whose text has changed. */
  refresh(): void
  /** Draws what is below the finished lines once more, where the cursor is: others have written to the terminal. */
  drawAnew(): void
  detach(): void
}

export interface ScreenOutput extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}
