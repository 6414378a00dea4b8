/** Holds every caller of `pass` until the test opens the gate, and tells when the first one has come. */
export interface Gate {
  /** Resolves at the first call of `pass`. */
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
