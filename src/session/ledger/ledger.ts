import { MeanwhileError } from "../../base/error.ts"
import type { LedgerEntry, LedgerFilter, LedgerKey, LedgerTotal } from "./ledger-entry.ts"
import { createLedgerTotals, matchesFilter, addTotals, NOTHING_USED, toTotal } from "./ledger-totals.ts"
import type { TokenUsage } from "../../plugin/token-usage.ts"

export type { LedgerEntry, LedgerFilter, LedgerKey, LedgerTotal } from "./ledger-entry.ts"

/** Usage and cost of every model call. */
export interface TokenLedger {
  record(entry: LedgerEntry): void
  /** Entries of this process, oldest first. Earlier usage of a session is in its record. */
  entries(filter?: LedgerFilter): readonly LedgerEntry[]
  total(filter?: LedgerFilter): LedgerTotal
  /** The newest 10,000 of a kind, the last used at the end. */
  totals(by: LedgerKey): ReadonlyMap<string, LedgerTotal>
  /** One JSON object a line. */
  toJsonl(filter?: LedgerFilter): string
}

export interface TokenLedgerOptions {
  /** Older entries are kept as totals only. Default 10,000. */
  readonly maxEntries?: number
}

/** In memory. Totals are right whatever became of their entries. */
export function createTokenLedger({ maxEntries = 10_000 }: TokenLedgerOptions = {}): TokenLedger {
  if (!Number.isInteger(maxEntries) || maxEntries < 0) {
    throw new MeanwhileError("invalid_input", `maxEntries must be a whole number, 0 or more, not ${maxEntries}.`)
  }
  const totals = createLedgerTotals()
  let kept: LedgerEntry[] = []

  function entries(filter: LedgerFilter = {}): readonly LedgerEntry[] {
    const newest = kept.slice(Math.max(kept.length - maxEntries, 0))
    return newest.filter((entry) => matchesFilter(entry, filter))
  }

  return {
    record(entry) {
      totals.add(entry)
      kept.push(entry)
      // Cut rarely, so that an entry costs the same however many there are.
      if (kept.length >= 2 * maxEntries + 16) kept = kept.slice(kept.length - maxEntries)
    },
    entries,
    total: (filter = {}) => totals.total(filter),
    totals: (by) => totals.by(by),
    toJsonl: (filter = {}) => toLedgerLines(entries(filter), totals.total(filter)),
  }
}

/** What is no longer kept as entries comes first, as one line with `folded: true`, so that the lines add up. */
function toLedgerLines(entries: readonly LedgerEntry[], total: LedgerTotal): string {
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
