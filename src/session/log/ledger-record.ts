import type { TaskStore } from "../../task/store.ts"
import type { LedgerKey, LedgerTotal } from "../ledger/ledger-entry.ts"
import { addTotals, NOTHING_USED, toTotal } from "../ledger/ledger-totals.ts"
import { type LedgerQuery, readLedger } from "./read-ledger.ts"

export interface LedgerRow {
  /** Null: calls that belong to none. */
  readonly key: string | null
  readonly total: LedgerTotal
}

/** What all model calls used of sessions that are kept, whichever process made them. */
export interface LedgerRecord {
  /** One JSON object a line, with its line end. */
  exportLedger(query?: LedgerQuery): AsyncGenerator<string>
  /** The most used first, by tokens. */
  ledgerTotals(by: LedgerKey, query?: LedgerQuery): Promise<readonly LedgerRow[]>
}

export function createLedgerRecord(store: TaskStore): LedgerRecord {
  return {
    async *exportLedger(query) {
      for await (const entry of readLedger(store, query)) yield `${JSON.stringify(entry)}\n`
    },
    async ledgerTotals(by, query) {
      const totals = new Map<string | null, LedgerTotal>()
      for await (const entry of readLedger(store, query)) {
        const key = entry[by]
        totals.set(key, addTotals(totals.get(key) ?? NOTHING_USED, toTotal(entry)))
      }
      const rows = [...totals].map(([key, total]) => ({ key, total }))
      return rows.toSorted((a, b) => tokensOf(b.total) - tokensOf(a.total))
    },
  }
}

function tokensOf({ usage }: LedgerTotal): number {
  return usage.inputTokens + usage.outputTokens
}
