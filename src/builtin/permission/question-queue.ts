/** Lets one question be before a person at a time. */
export interface QuestionQueue {
  /** Rejects with the signal's reason when that comes first, also while others are before it. */
  take<Result>(signal: AbortSignal, ask: () => Promise<Result>): Promise<Result>
}

export function createQuestionQueue(): QuestionQueue {
  let last: Promise<unknown> = Promise.resolve()

  return {
    take(signal, ask) {
      const before = last
      const own = unlessAborted(signal, async () => {
        await before
        signal.throwIfAborted()
        return ask()
      })
      // A question that is withdrawn while it waits does not let the next one past those before it.
      last = Promise.allSettled([before, own])
      return own
    },
  }
}

async function unlessAborted<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason as Error)
  signal.addEventListener("abort", onAbort, { once: true })
  try {
    return await Promise.race([work(), promise])
  } finally {
    signal.removeEventListener("abort", onAbort)
  }
}
