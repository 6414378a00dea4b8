/**
 * `key`: Ctrl+C, which a person may mean in several ways. `terminate`: the program is told to end. `hangup`: the
 * terminal or the reader of the output is gone. A hangup may be reported several times, so it ends the program without
 * haste.
 */
export type Interrupt = "key" | "terminate" | "hangup"

/** Hands on Ctrl+C, SIGTERM and SIGHUP, one at a time. */
export interface Interrupts {
  raise(interrupt: Interrupt): void
  /** Calls back at each interrupt, until the returned function is called. */
  onEach(listener: (interrupt: Interrupt) => void): () => void
}

export function createInterrupts(): Interrupts {
  const listeners = new Set<(interrupt: Interrupt) => void>()

  return {
    raise(interrupt) {
      // A listener that is added during the call hears the next interrupt.
      const present = [...listeners]
      for (const listener of present) listener(interrupt)
    },
    onEach(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** The signals of this process. */
export function followSignals(): Interrupts {
  const interrupts = createInterrupts()
  process.on("SIGINT", () => interrupts.raise("key"))
  process.on("SIGTERM", () => interrupts.raise("terminate"))
  process.on("SIGHUP", () => interrupts.raise("hangup"))
  return interrupts
}
