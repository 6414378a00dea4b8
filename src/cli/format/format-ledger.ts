import type { ScreenRuntime } from "../../program/open-program.ts"
import { plain, toTable } from "./format.ts"

type Rows = Awaited<ReturnType<ScreenRuntime["ledgerTotals"]>>
type Total = Rows[number]["total"]
export type Grouping = Parameters<ScreenRuntime["ledgerTotals"]>[0]

export const GROUPINGS = ["model", "session", "turn", "task"] as const satisfies readonly Grouping[]

const COLUMNS = ["calls", "input", "cached", "output", "reasoning", "cost"] as const
const NONE = "(none)"

/** A table for people, with a sum at its end. */
export function formatLedger(by: Grouping, rows: Rows): string {
  if (rows.length === 0) return "No model was asked yet.\n"
  const sum = rows.map(({ total }) => total).reduce(add)
  const lines = [
    [by, ...COLUMNS],
    ...rows.map(({ key, total }) => [key === null ? NONE : plain(key), ...toCells(total)]),
    ["all", ...toCells(sum)],
  ]
  return toTable(lines, (column) => column > 0)
    .map((line) => `${line}\n`)
    .join("")
}

function toCells(total: Total): readonly string[] {
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens } = total.usage
  const counts = [total.calls, inputTokens, cachedInputTokens, outputTokens, reasoningTokens]
  return [...counts.map((count) => count.toLocaleString("en-US")), formatCost(total)]
}

/** Calls of unknown price are marked, since they are not free. */
function formatCost({ costMicros, hasUnknownCost }: Total): string {
  if (hasUnknownCost && costMicros === 0) return "unknown"
  const dollars = `$${(costMicros / 1_000_000).toFixed(4)}`
  return hasUnknownCost ? `${dollars} + unknown` : dollars
}

function add(a: Total, b: Total): Total {
  return {
    calls: a.calls + b.calls,
    usage: {
      inputTokens: a.usage.inputTokens + b.usage.inputTokens,
      cachedInputTokens: a.usage.cachedInputTokens + b.usage.cachedInputTokens,
      outputTokens: a.usage.outputTokens + b.usage.outputTokens,
      reasoningTokens: a.usage.reasoningTokens + b.usage.reasoningTokens,
    },
    costMicros: a.costMicros + b.costMicros,
    hasUnknownCost: a.hasUnknownCost || b.hasUnknownCost,
  }
}
