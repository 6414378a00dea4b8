/** The meanings of the program's exit codes. Documented in `docs/guide/program.md`. */
export const EXIT_CODES = {
  completed: 0,
  failed: 1,
  /** Wrong arguments, or something that a start needs is missing. */
  refused: 2,
  /** Stopped by Ctrl+C, a signal or the time limit. */
  stopped: 3,
  /** Work waits for an approval or an answer. */
  needs_person: 4,
} as const

export type ExitName = keyof typeof EXIT_CODES
