import { countOf, formatDuration, toLine } from "./format.ts"
import type { ContextUsage, TurnAccounting } from "./agent-event.ts"

const MICROS = 1_000_000

type Usage = TurnAccounting["usage"]
type Outcome = TurnAccounting["outcome"]

/** One line about the tokens, the cost and the time of a turn. */
export function formatAccounting(accounting: TurnAccounting, usage: ContextUsage): string {
  const { usage: tokens, costMicros, durationMs, model, outcome, toolCalls } = accounting
  const parts = [
    ...(outcome === "completed" ? [] : [outcome]),
    toLine(model),
    formatUsage(tokens, outcome),
    ...(costMicros === null || costMicros === 0 ? [] : [formatCost(costMicros)]),
    ...(toolCalls === 0 ? [] : [countOf(toolCalls, "call")]),
    formatDuration(durationMs),
    `context ${formatPercent(usage.percentUsed)}`,
  ]
  return parts.join(" · ")
}

/** A call that was cut off reported no usage: its usage is unknown, which is not the same as zero. */
function formatUsage({ inputTokens, cachedInputTokens, outputTokens }: Usage, outcome: Outcome): string {
  if (outcome !== "completed" && inputTokens + outputTokens === 0) return "no tokens counted"
  const cached = cachedInputTokens > 0 ? ` (${formatCount(cachedInputTokens)} cached)` : ""
  return `${formatCount(inputTokens)}${cached} + ${formatCount(outputTokens)} tokens`
}

export function formatCount(count: number): string {
  if (count < 10_000) return String(count)
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(2)}M`
}

export function formatPercent(percent: number): string {
  return percent > 0 && percent < 1 ? "<1 %" : `${Math.round(percent)} %`
}

export function formatCost(costMicros: number): string {
  return `$${(costMicros / MICROS).toFixed(costMicros < MICROS ? 4 : 2)}`
}
