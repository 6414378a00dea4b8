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
  /** The program is back. Others may have written to the terminal since, and the typed text is kept but not shown. */
  readonly onReturn: () => void
}

/**
 * Handles Ctrl+Z and the return from it, or from a stop by somebody else, until the prompt is closed. Readline alone
 * would pause its input at the return, and then nothing would keep the program alive.
 */
export function followSuspension({ prompt, input, onLeave, onReturn }: SuspensionParts): void {
  let isAway = false

  const comeBack = (): void => {
    isAway = false
    // After a stop from outside the terminal has the shell's mode. Node does not know that, and sets only a mode that changes.
    input.setRawMode?.(false)
    input.setRawMode?.(true)
    onReturn()
  }

  prompt.on("SIGTSTP", () => {
    isAway = true
    onLeave?.()
    input.setRawMode?.(false)
    // Stops the whole group, as the terminal itself does: the program that started this one may wait in it.
    process.kill(0, "SIGTSTP")
    // Without a shell that could continue it, the program was not stopped. Signals are handled between the two immediates.
    setImmediate(() => setImmediate(() => isAway && comeBack()))
  })
  process.on("SIGCONT", comeBack)
  prompt.once("close", () => {
    isAway = false
    process.off("SIGCONT", comeBack)
  })
}
