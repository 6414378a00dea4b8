import type { Screen, ScreenOutput } from "./screen.ts"
import type { Style } from "./style.ts"

const USUAL_ROWS = 24

/** A pipe or a file: text and nothing but text, in the order in which it comes. */
export function createPlainScreen(output: ScreenOutput, style: Style): Screen {
  let isAtLineStart = true

  function write(text: string): void {
    if (text === "") return
    output.write(text)
    isAtLineStart = text.endsWith("\n")
  }

  /** Without this, the next text would continue an unfinished line. */
  function endLine(): void {
    if (!isAtLineStart) write("\n")
  }

  return {
    isLive: false,
    style,
    get columns() {
      // Output without a width is read by programs: nothing is cut.
      return output.columns ?? Number.POSITIVE_INFINITY
    },
    get rows() {
      return output.rows ?? USUAL_ROWS
    },
    write,
    endLine,
    print(text) {
      endLine()
      write(`${text}\n`)
    },
    showActivity() {},
    attach() {},
    enterLine() {},
    refresh() {},
    drawAnew() {},
    detach: endLine,
  }
}
