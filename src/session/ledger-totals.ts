import { addTokens, NO_TOKENS } from "../plugin/token-usage.ts"
import type { LedgerEntry, LedgerFilter, LedgerKey, LedgerTotal } from "./ledger-entry.ts"

const KEYS = ["session", "turn", "task", "model"] as const satisfies readonly LedgerKey[]

export const NOTHING_USED: LedgerTotal = { calls: 0, usage: NO_TOKENS, costMicros: 0, hasUnknownCost: false }

export interface LedgerTotals {
  add(entry: LedgerEntry): void
  total(filter: LedgerFilter): LedgerTotal
  by(key: LedgerKey): ReadonlyMap<string, LedgerTotal>
}

/** All entries that share every key, as one. */
type Cell = Pick<LedgerEntry, LedgerKey> & { total: LedgerTotal }

export function createLedgerTotals(): LedgerTotals {
  let whole = NOTHING_USED
  const byKey = {
    session: new Map<string, LedgerTotal>(),
    turn: new Map<string, LedgerTotal>(),
    task: new Map<string, LedgerTotal>(),
    model: new Map<string, LedgerTotal>(),
  }
  const cells = new Map<string, Cell>()

  return {
    add(entry) {
      const own = toTotal(entry)
      whole = addTotals(whole, own)
      for (const key of KEYS) {
        const value = entry[key]
        if (value !== null) byKey[key].set(value, addTotals(byKey[key].get(value) ?? NOTHING_USED, own))
      }
      const { session, turn, task, model } = entry
      const name = `${session} ${turn} ${task} ${model}`
      const cell = cells.get(name)
      if (cell) cell.total = addTotals(cell.total, own)
      else cells.set(name, { session, turn, task, model, total: own })
    },
    total(filter) {
      const [first, ...more] = KEYS.filter((key) => filter[key] !== undefined)
      if (first === undefined) return whole
      if (more.length === 0) return byKey[first].get(filter[first] ?? "") ?? NOTHING_USED
      let total = NOTHING_USED
      for (const cell of cells.values()) if (matchesFilter(cell, filter)) total = addTotals(total, cell.total)
      return total
    },
    by: (key) => new Map(byKey[key]),
  }
}

export function matchesFilter(entry: Pick<LedgerEntry, LedgerKey>, filter: LedgerFilter): boolean {
  return KEYS.every((key) => filter[key] === undefined || filter[key] === entry[key])
}

export function toTotal({ usage, costMicros }: LedgerEntry): LedgerTotal {
  return { calls: 1, usage, costMicros: costMicros ?? 0, hasUnknownCost: costMicros === null }
}

export function addTotals(a: LedgerTotal, b: LedgerTotal): LedgerTotal {
  return {
    calls: a.calls + b.calls,
    usage: addTokens(a.usage, b.usage),
    costMicros: a.costMicros + b.costMicros,
    hasUnknownCost: a.hasUnknownCost || b.hasUnknownCost,
  }
}
