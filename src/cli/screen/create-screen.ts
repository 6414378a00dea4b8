import { createPlainScreen } from "./plain-screen.ts"
import type { Screen, ScreenOutput } from "./screen.ts"
import { createStyle, wantsColours } from "./style.ts"
import { createTerminalScreen } from "./terminal-screen.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** For a conversation: on a terminal what goes on is drawn below what was said. */
export function createScreen(output: ScreenOutput, environment: Environment = {}): Screen {
  const isLive = output.isTTY === true && environment["TERM"] !== "dumb"
  if (!isLive) return createLineScreen(output, environment)
  return createTerminalScreen(output, createStyle(wantsColours(output, environment)))
}

/** One line after the other, also on a terminal: where two outputs share it, neither knows what the other has drawn. */
export function createLineScreen(output: ScreenOutput, environment: Environment = {}): Screen {
  return createPlainScreen(output, createStyle(wantsColours(output, environment)))
}
