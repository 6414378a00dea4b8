/** Holds whoever passes until the test opens it, and says when somebody has come. */
export interface Gate {
  /** Resolves when somebody waits at it. */
  readonly reached: Promise<void>
  pass(): Promise<void>
  open(): void
}

export function createGate(): Gate {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    pass() {
      reached.resolve()
      return opened.promise
    },
    open: () => opened.resolve(),
  }
}
