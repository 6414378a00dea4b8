import { createOneAtATime } from "../../base/one-at-a-time.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"

/** Lets one question be before a person at a time. */
export interface QuestionQueue {
  /** Rejects with the signal's reason when that comes first, also while others are before it. */
  take<Result>(signal: AbortSignal, ask: () => Promise<Result>): Promise<Result>
}

export function createQuestionQueue(): QuestionQueue {
  const oneAtATime = createOneAtATime()
  return {
    // A question that is withdrawn while it waits does not let the next one past those before it.
    take: (signal, ask) =>
      unlessAborted(
        signal,
        oneAtATime("person", () => {
          signal.throwIfAborted()
          return unlessAborted(signal, ask())
        }),
      ),
  }
}
