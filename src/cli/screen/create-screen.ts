import { createPlainScreen } from "./plain-screen.ts"
import type { Screen, ScreenOutput } from "./screen.ts"
import { createStyle, wantsColours } from "./style.ts"
import { createTerminalScreen } from "./terminal-screen.ts"

export function createScreen(
  output: ScreenOutput,
  environment: Readonly<Record<string, string | undefined>> = {},
): Screen {
  const style = createStyle(wantsColours(output, environment))
  const isLive = output.isTTY === true && environment["TERM"] !== "dumb"
  return isLive ? createTerminalScreen(output, style) : createPlainScreen(output, style)
}
