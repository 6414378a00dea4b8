import { createOneAtATime } from "../../base/one-at-a-time.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"

export type QuestionQueue = ReturnType<typeof createQuestionQueue>

/** Lets one question be before a person at a time. */
export function createQuestionQueue() {
  const oneAtATime = createOneAtATime()
  return {
    /**
     * Rejects with the signal's reason if the abort comes first, even while other questions are before this one. A
     * question that is withdrawn while it waits does not let the next one overtake those before it.
     */
    take: <Result>(signal: AbortSignal, ask: () => Promise<Result>): Promise<Result> =>
      unlessAborted(
        signal,
        oneAtATime("person", () => {
          signal.throwIfAborted()
          return unlessAborted(signal, ask())
        }),
      ),
  }
}
