import type { Interface } from "node:readline"

/** Input that may be a terminal. */
export interface RawInput {
  setRawMode?(isRaw: boolean): unknown
}

export interface SuspensionParts {
  readonly prompt: Interface
  readonly input: RawInput
  /** Ctrl+Z: the shell has the terminal next. */
  readonly onLeave?: () => void
  /** Others may have written to the terminal since. What was typed is still there, and not shown. */
  readonly onReturn: () => void
}

/**
 * Ctrl+Z and the return from it, or from a stop by somebody else, until the prompt is closed. Left to itself, readline
 * pauses its input when it returns, and then nothing keeps the program alive.
 */
export function followSuspension({ prompt, input, onLeave, onReturn }: SuspensionParts): void {
  let isAway = false

  const comeBack = (): void => {
    isAway = false
    // After a stop from outside the terminal has the mode of the shell, and Node does not know: it sets only what it changes.
    input.setRawMode?.(false)
    input.setRawMode?.(true)
    onReturn()
  }

  prompt.on("SIGTSTP", () => {
    isAway = true
    onLeave?.()
    input.setRawMode?.(false)
    // The whole group, as the terminal itself does it: the program that started this one may wait for it there.
    process.kill(0, "SIGTSTP")
    // Without a shell that could continue it, the program was not stopped. Signals are heard between the two.
    setImmediate(() => setImmediate(() => isAway && comeBack()))
  })
  process.on("SIGCONT", comeBack)
  prompt.once("close", () => {
    isAway = false
    process.off("SIGCONT", comeBack)
  })
}
