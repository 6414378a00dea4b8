import type { LogEntry, PaidCall } from "./log-entry.ts"
import type { TurnChange } from "./open-turn.ts"

/** Model calls that left no message, until something is written that can take them along. */
export interface PaidCalls {
  readonly isEmpty: boolean
  add(call: PaidCall): void
  /** The change with them in front. Not a message that asks for calls: their steps are named by its being the last. */
  takeAlong<Change extends TurnChange>(change: Change): Change
}

export function createPaidCalls(): PaidCalls {
  let waiting: LogEntry[] = []
  return {
    get isEmpty() {
      return waiting.length === 0
    },
    add: (entry) => void waiting.push({ kind: "paid", entry }),
    takeAlong(change) {
      if (waiting.length === 0 || change.started) return change
      const entries = [...waiting, ...change.entries]
      waiting = []
      return { ...change, entries }
    },
  }
}
