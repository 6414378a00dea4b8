import type { Ending } from "./ending.ts"

/** Why a chat is to end. The first reason counts; only the end of input, which hurries nothing, makes way for a signal. */
export interface Leaving {
  end(reason: Ending): void
  fail(error: unknown): void
  /** Resolves when it is to end, and rejects when it has failed. */
  readonly wanted: Promise<void>
  /** As it is by then. */
  reason(): Ending
}

/** `leaveStore`: from then on a store that is away is not waited for, unless nothing but the input has ended. */
export function createLeaving(leaveStore: () => void): Leaving {
  const wanted = Promise.withResolvers<void>()
  let reason: Ending = "end of input"
  let isEnding = false
  return {
    end(next) {
      if (isEnding && (reason !== "end of input" || next !== "interrupt")) return
      isEnding = true
      reason = next
      if (next !== "end of input") leaveStore()
      wanted.resolve()
    },
    fail: wanted.reject,
    wanted: wanted.promise,
    reason: () => reason,
  }
}
