import type { Screen, ScreenOutput } from "./screen.ts"
import { createStyle } from "./style.ts"
import { createTerminalScreen } from "./terminal-screen.ts"

type Environment = Readonly<Record<string, string | undefined>>

const USUAL_ROWS = 24

/** A screen for a conversation: on a terminal, current activity is drawn below the finished lines. */
export function createScreen(output: ScreenOutput, environment: Environment = {}): Screen {
  const isLive = output.isTTY === true && environment["TERM"] !== "dumb"
  return isLive ? createTerminalScreen(output, createStyle(output, environment)) : createLineScreen(output, environment)
}

/**
 * A screen that writes plain text in the order in which it comes: for a pipe or a file, and for a terminal that two
 * outputs share, where neither knows what the other has drawn.
 */
export function createLineScreen(output: ScreenOutput, environment: Environment = {}): Screen {
  let isAtLineStart = true

  function write(text: string): void {
    if (text === "") return
    output.write(text)
    isAtLineStart = text.endsWith("\n")
  }

  /** Ends an unfinished line, which the next text would continue. */
  function endLine(): void {
    if (!isAtLineStart) write("\n")
  }

  return {
    isLive: false,
    style: createStyle(output, environment),
    get columns() {
      // Programs read output without a width: nothing is cut.
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
