/** Aborts when somebody says something new during the turn. Most turns never ask, so the signal is made on demand. */
export interface NewMessage {
  readonly signal: AbortSignal
  abort(): void
}

export function createNewMessage(): NewMessage {
  return new LazySignal()
}

/** A class: the getters of an object literal would keep every turn in memory until the next full garbage collection. */
class LazySignal implements NewMessage {
  #controller: AbortController | undefined
  #isAborted = false

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isAborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort()
  }
}
