import type { LogEntry, PaidCall } from "./log-entry.ts"
import type { LogChange } from "./open-turn.ts"

/** Model calls that left no message, until something is written that can take them along. */
export interface PaidCalls {
  count(): number
  add(call: PaidCall): void
  /** The change with them in front: its own entries come last, where the steps of a message's calls look for it. */
  takeAlong(change: LogChange): LogChange
}

export function createPaidCalls(): PaidCalls {
  let waiting: LogEntry[] = []
  return {
    count: () => waiting.length,
    add: (entry) => void waiting.push({ kind: "paid", entry }),
    takeAlong(change) {
      if (waiting.length === 0) return change
      const entries = [...waiting, ...change.entries]
      waiting = []
      return { ...change, entries }
    },
  }
}
