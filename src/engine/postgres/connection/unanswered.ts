/** What the server was asked and has not answered yet. */
export interface Unanswered {
  begin(): Asked
  /** Refuses, as lost, what was asked before this moment. */
  giveUp(askedBeforeMs: number): void
  close(): void
}

export interface Asked {
  /** Only ever rejects. */
  readonly givenUp: Promise<never>
  end(): void
}

const LOOK_EVERY_MS = 250
/** An answer that takes longer, of a server that is there, is rare. */
const LONG_MS = 750
const TELL_AGAIN_MS = 2_000

/** `onLong`: something has not been answered for long. */
export function createUnanswered(onLong: () => void): Unanswered {
  /** The oldest first. */
  const asked = new Map<symbol, { readonly sinceMs: number; readonly giveUp: (error: Error) => void }>()
  let toldMs = Number.NEGATIVE_INFINITY

  function look(): void {
    const [oldest] = asked.values()
    const nowMs = performance.now()
    if (!oldest || nowMs - oldest.sinceMs < LONG_MS || nowMs - toldMs < TELL_AGAIN_MS) return
    toldMs = nowMs
    onLong()
  }

  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  return {
    begin() {
      const key = Symbol("asked")
      const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>()
      givenUp.catch(() => {})
      asked.set(key, { sinceMs: performance.now(), giveUp })
      return { givenUp, end: () => void asked.delete(key) }
    },
    giveUp(askedBeforeMs) {
      for (const { sinceMs, giveUp } of asked.values())
        if (sinceMs < askedBeforeMs) giveUp(new Error("Connection terminated: its answer is not waited for any more"))
    },
    close: () => clearInterval(timer),
  }
}
