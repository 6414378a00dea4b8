import { createNewestMap, type NewestMap } from "../../base/maps.ts"
import { addTokens, NO_TOKENS } from "../../plugin/token-usage.ts"
import type { LedgerEntry, LedgerFilter, LedgerKey, LedgerTotal } from "./ledger-entry.ts"

const KEYS = ["session", "turn", "task", "model"] as const satisfies readonly LedgerKey[]

export const NOTHING_USED: LedgerTotal = { calls: 0, usage: NO_TOKENS, costMicros: 0, hasUnknownCost: false }

export interface LedgerTotals {
  add(entry: LedgerEntry): void
  /** Totals of a turn, a task or a session; zero once it is no longer among the newest. */
  total(filter: LedgerFilter): LedgerTotal
  by(key: LedgerKey): ReadonlyMap<string, LedgerTotal>
}

/** All entries that share every key, as one. */
type Cell = Pick<LedgerEntry, LedgerKey> & { readonly total: LedgerTotal }

/** Keeps so many sessions, turns and tasks. What the older ones used stays in the totals of what they belong to. */
export function createLedgerTotals(most = 10_000): LedgerTotals {
  let whole = NOTHING_USED
  const byKey = {
    session: createNewestMap<string, LedgerTotal>(most),
    turn: createNewestMap<string, LedgerTotal>(most),
    task: createNewestMap<string, LedgerTotal>(most),
    model: createNewestMap<string, LedgerTotal>(most),
  }
  /** Older cells, without turn and task. */
  const folded = createNewestMap<string, Cell>(most)
  const cells = createNewestMap<string, Cell>(most, (cell) => addTo(folded, { ...cell, turn: null, task: null }))

  return {
    add(entry) {
      const own = toTotal(entry)
      whole = addTotals(whole, own)
      for (const key of KEYS) {
        const value = entry[key]
        if (value !== null) byKey[key].set(value, addTotals(byKey[key].get(value) ?? NOTHING_USED, own))
      }
      const { session, turn, task, model } = entry
      addTo(cells, { session, turn, task, model, total: own })
    },
    total(filter) {
      const [first, ...more] = KEYS.filter((key) => filter[key] !== undefined)
      if (first === undefined) return whole
      if (more.length === 0) return byKey[first].get(filter[first] ?? "") ?? NOTHING_USED
      let total = NOTHING_USED
      for (const cell of [...folded.values(), ...cells.values()]) {
        if (matchesFilter(cell, filter)) total = addTotals(total, cell.total)
      }
      return total
    },
    by: (key) => new Map(byKey[key].entries()),
  }
}

function addTo(cells: NewestMap<string, Cell>, cell: Cell): void {
  const { session, turn, task, model } = cell
  const name = `${session} ${turn} ${task} ${model}`
  cells.set(name, { ...cell, total: addTotals(cells.get(name)?.total ?? NOTHING_USED, cell.total) })
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
