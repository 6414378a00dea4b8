import type { TokenUsage } from "../../plugin/token-usage.ts"
import type { LedgerEntry, LedgerTotal } from "./ledger-entry.ts"
import { addTotals, NOTHING_USED, toTotal } from "./ledger-totals.ts"

/** What is no longer kept as entries comes first, as one line with `folded: true`, so that the lines add up. */
export function toLedgerLines(entries: readonly LedgerEntry[], total: LedgerTotal): string {
  const shown = entries.reduce((sum, entry) => addTotals(sum, toTotal(entry)), NOTHING_USED)
  const lines = entries.map((entry) => JSON.stringify(entry))
  if (shown.calls < total.calls) lines.unshift(JSON.stringify({ folded: true, ...toRest(total, shown) }))
  return lines.map((line) => `${line}\n`).join("")
}

function toRest(total: LedgerTotal, shown: LedgerTotal): Omit<LedgerTotal, "hasUnknownCost"> {
  return {
    calls: total.calls - shown.calls,
    usage: subtract(total.usage, shown.usage),
    costMicros: total.costMicros - shown.costMicros,
  }
}

function subtract(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    inputTokens: a.inputTokens - b.inputTokens,
    cachedInputTokens: a.cachedInputTokens - b.cachedInputTokens,
    outputTokens: a.outputTokens - b.outputTokens,
    reasoningTokens: a.reasoningTokens - b.reasoningTokens,
  }
}
