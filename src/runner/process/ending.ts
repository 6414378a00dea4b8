/** How the command itself ended, as far as anyone knows. */
export interface Ending {
  readonly exitCode: number | null
  readonly signal: number | null
}

export const UNKNOWN_ENDING: Ending = { exitCode: null, signal: null }

const LAST_SIGNAL = 31

/**
 * A shell says 128 + n for a child that signal n ended, and so do most programs that report on others. An exit code of
 * that shape is therefore read as the signal: the two cannot be told apart.
 */
export function toEnding(status: number): Ending {
  const signal = status - 128
  return signal >= 1 && signal <= LAST_SIGNAL ? { exitCode: null, signal } : { exitCode: status, signal: null }
}
