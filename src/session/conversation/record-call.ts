import type { Conversation } from "./conversation.ts"
import type { LedgerEntry } from "../ledger/ledger-entry.ts"
import type { Using } from "./scope.ts"

/** Into the ledger, and to whoever pays for the conversation. The session's record gets it elsewhere. */
export function recordCall(
  scope: Using<"clock" | "ledger">,
  conversation: Conversation,
  entry: Omit<LedgerEntry, "at" | "session">,
  { isLast = false }: { readonly isLast?: boolean } = {},
): void {
  const { usage, costMicros } = entry
  scope.ledger.record({ ...entry, at: scope.clock.now(), session: conversation.log.id })
  const tokens = usage.inputTokens + usage.outputTokens
  const spent = { tokens, costMicros: costMicros ?? 0 }
  conversation.budget?.spend(spent)
  conversation.onSpent?.(spent, { isLast })
}
