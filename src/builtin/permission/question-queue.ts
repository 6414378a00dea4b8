import { createOneAtATime } from "../../base/one-at-a-time.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"

export type QuestionQueue = ReturnType<typeof createQuestionQueue>

/** Lets one question be before a person at a time. */
export function createQuestionQueue() {
  const oneAtATime = createOneAtATime()
  return {
    /**
     * Rejects with the signal's reason when that comes first, also while others are before it. A question that is
     * withdrawn while it waits does not let the next one past those before it.
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
