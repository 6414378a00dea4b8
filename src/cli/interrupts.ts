/** Ctrl+C and SIGTERM, one at a time. */
export interface Interrupts {
  raise(): void
  /** Calls back at the next one only, unless taken back before. */
  onNext(listener: () => void): () => void
}

export function createInterrupts(): Interrupts {
  const listeners = new Set<() => void>()
  return {
    raise() {
      const waiting = [...listeners]
      listeners.clear()
      for (const listener of waiting) listener()
    },
    onNext(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
