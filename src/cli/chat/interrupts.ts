/** `key`: Ctrl+C, which a person may mean in several ways. `terminate`: the program is told to end. */
export type Interrupt = "key" | "terminate"

/** Ctrl+C and SIGTERM, one at a time. */
export interface Interrupts {
  raise(interrupt: Interrupt): void
  /** Calls back at each one until taken back. */
  onEach(listener: (interrupt: Interrupt) => void): () => void
  /** Calls back at the next one only, unless taken back before. */
  onNext(listener: () => void): () => void
}

export function createInterrupts(): Interrupts {
  const listeners = new Set<(interrupt: Interrupt) => void>()

  function add(listener: (interrupt: Interrupt) => void): () => void {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  return {
    raise(interrupt) {
      // One that is added by another hears of the next.
      const present = [...listeners]
      for (const listener of present) listener(interrupt)
    },
    onEach: add,
    onNext(listener) {
      const forget = add(() => {
        forget()
        listener()
      })
      return forget
    },
  }
}

/** Of this process. */
export function followSignals(interrupts: Interrupts): void {
  process.on("SIGINT", () => interrupts.raise("key"))
  process.on("SIGTERM", () => interrupts.raise("terminate"))
}
