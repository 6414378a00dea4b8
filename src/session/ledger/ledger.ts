import { MeanwhileError } from "../../base/error.ts"
import type { LedgerEntry, LedgerFilter, LedgerKey, LedgerTotal } from "./ledger-entry.ts"
import { toLedgerLines } from "./ledger-export.ts"
import { createLedgerTotals, matchesFilter } from "./ledger-totals.ts"

export type { LedgerEntry, LedgerFilter, LedgerKey, LedgerTotal } from "./ledger-entry.ts"

/** What every model call used, and what it cost. */
export interface TokenLedger {
  record(entry: LedgerEntry): void
  /** Of this process, oldest first. What a session used before it is in its record. */
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
