import { type ErrorCode, MeanwhileError } from "../../base/error.ts"
import { type TokenUsage, addTokens, NO_TOKENS } from "../../plugin/token-usage.ts"
import { createNewestMap, type NewestMap } from "../../base/newest-map.ts"
import type { SessionId, TaskId } from "../../task/id.ts"

/** One model call as it was paid for. */
export interface LedgerEntry {
  readonly at: number
  readonly session: SessionId
  /** Null outside a turn. In a session that is kept it names a task. */
  readonly turn: TaskId | null
  /** The task of a subagent's turn, or of the call in which a plugin asked the model. */
  readonly task: TaskId | null
  readonly model: string
  readonly usage: TokenUsage
  /** Millionths of a US dollar; null when no price is known. */
  readonly costMicros: number | null
  /** `lost`: a crash cut the call off, and its usage is estimated. `helper`: a plugin asked the model. */
  readonly purpose: "turn" | "lost" | "helper"
  /** How a call without an answer ended; absent if there is one. */
  readonly outcome?: "aborted" | "failed"
  /** The code of the error of a failed call. */
  readonly error?: ErrorCode
  /** True if the usage is our estimate: no provider has counted it. */
  readonly isEstimated?: true
}

export interface LedgerTotal {
  readonly calls: number
  readonly usage: TokenUsage
  /** The cost of the calls whose price is known. */
  readonly costMicros: number
  readonly hasUnknownCost: boolean
}

const KEYS = ["session", "turn", "task", "model"] as const
export type LedgerKey = (typeof KEYS)[number]

type LedgerFilter = { readonly [Key in LedgerKey]?: string }

/** Usage and cost of every model call. */
export interface TokenLedger {
  record(entry: LedgerEntry): void
  /** Entries of this process, oldest first. Earlier usage of a session is in its record. */
  entries(filter?: LedgerFilter): readonly LedgerEntry[]
  total(filter?: LedgerFilter): LedgerTotal
  /** Totals by key: the newest 10,000, the last used at the end. */
  totals(by: LedgerKey): ReadonlyMap<string, LedgerTotal>
  /** One JSON object a line. */
  toJsonl(filter?: LedgerFilter): string
}

export interface TokenLedgerOptions {
  /** Older entries are kept as totals only. Default 10,000. */
  readonly maxEntries?: number
}

/** A ledger in memory. Its totals stay right when old entries are dropped. */
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
      // Cut rarely, so that recording costs the same however many entries there are.
      if (kept.length >= 2 * maxEntries + 16) kept = kept.slice(kept.length - maxEntries)
    },
    entries,
    total: (filter = {}) => totals.total(filter),
    totals: (by) => totals.by(by),
    toJsonl: (filter = {}) => toLedgerLines(entries(filter), totals.total(filter)),
  }
}

/** Entries that are no longer kept come first, as one line with `folded: true`, so that the lines add up. */
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

export const NOTHING_USED: LedgerTotal = { calls: 0, usage: NO_TOKENS, costMicros: 0, hasUnknownCost: false }

interface LedgerTotals {
  add(entry: LedgerEntry): void
  /** Totals of a turn, a task or a session; zero once it is no longer among the newest. */
  total(filter: LedgerFilter): LedgerTotal
  by(key: LedgerKey): ReadonlyMap<string, LedgerTotal>
}

/** All entries that share every key, as one. */
type Cell = Pick<LedgerEntry, LedgerKey> & { readonly total: LedgerTotal }

/**
 * Keeps the totals of the newest `most` sessions, turns, tasks and models. Usage of older ones stays in the totals of what
 * they belong to.
 */
export function createLedgerTotals(most = 10_000): LedgerTotals {
  let whole = NOTHING_USED
  const byKey = {
    session: createNewestMap<string, LedgerTotal>(most),
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
      for (const key of ["session", "task", "model"] as const) {
        const value = entry[key]
        if (value !== null) byKey[key].set(value, addTotals(byKey[key].get(value) ?? NOTHING_USED, own))
      }
      const { session, turn, task, model } = entry
      addTo(cells, { session, turn, task, model, total: own })
    },
    total(filter) {
      const [first, ...more] = KEYS.filter((key) => filter[key] !== undefined)
      if (first === undefined) return whole
      if (more.length === 0 && first !== "turn") return byKey[first].get(filter[first] ?? "") ?? NOTHING_USED
      let total = NOTHING_USED
      for (const cell of [...folded.values(), ...cells.values()]) {
        if (matchesFilter(cell, filter)) total = addTotals(total, cell.total)
      }
      return total
    },
    by: (key) => (key === "turn" ? toTurnTotals(cells.values()) : new Map(byKey[key].entries())),
  }
}

/** A turn hardly ever has more than one cell, so its total is not kept beside it: a long-lived program has many turns. */
function toTurnTotals(cells: Iterable<Cell>): ReadonlyMap<string, LedgerTotal> {
  const totals = new Map<string, LedgerTotal>()
  for (const { turn, total } of cells) {
    if (turn === null) continue
    const known = totals.get(turn)
    totals.delete(turn)
    totals.set(turn, known ? addTotals(known, total) : total)
  }
  return totals
}

function addTo(cells: NewestMap<string, Cell>, cell: Cell): void {
  const { session, turn, task, model } = cell
  // A turn is of one session.
  const name = `${turn ?? session} ${task} ${model}`
  cells.set(name, { ...cell, total: addTotals(cells.get(name)?.total ?? NOTHING_USED, cell.total) })
}

function matchesFilter(entry: Pick<LedgerEntry, LedgerKey>, filter: LedgerFilter): boolean {
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
