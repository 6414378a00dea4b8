import type { Screen, ScreenOutput } from "./screen.ts"
import { createStyle } from "./style.ts"
import { createTerminalScreen } from "./terminal-screen.ts"

type Environment = Readonly<Record<string, string | undefined>>

const USUAL_ROWS = 24

/** For a conversation: on a terminal what goes on is drawn below what was said. */
export function createScreen(output: ScreenOutput, environment: Environment = {}): Screen {
  const isLive = output.isTTY === true && environment["TERM"] !== "dumb"
  return isLive ? createTerminalScreen(output, createStyle(output, environment)) : createLineScreen(output, environment)
}

/**
 * Text and nothing but text, in the order in which it comes: for a pipe or a file, and also for a terminal that two
 * outputs share, where neither knows what the other has drawn.
 */
export function createLineScreen(output: ScreenOutput, environment: Environment = {}): Screen {
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
    style: createStyle(output, environment),
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
