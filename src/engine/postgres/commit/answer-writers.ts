import type { Change } from "../../rules/change.ts"
import type { Outcome, Writer } from "../../rules/writer.ts"

/** After a transaction is durable and its writers are answered. */
export type OnCommitted = (changes: readonly Change[]) => void

export function answerWriters(
  writers: readonly Writer[],
  outcomes: readonly Outcome[],
  onCommitted: OnCommitted,
): void {
  const changes: Change[] = []
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.isRefused) writers[index]?.reject(outcome.error)
    else {
      changes.push(outcome.change)
      writers[index]?.resolve(outcome.answers)
    }
  }
  onCommitted(changes)
}
