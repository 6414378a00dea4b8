import type { ContextUsage } from "../../plugin/context-usage.ts"
import type { CollectionDecision, GcConfig } from "../../plugin/gc-plugin.ts"

export function shouldCollect(usage: ContextUsage, { thresholdPercent }: GcConfig): CollectionDecision {
  if (usage.percentUsed < thresholdPercent) return { isDue: false }
  const tokens = `${toCount(usage.usedTokens)} of ${toCount(usage.limitTokens)} tokens`
  return {
    isDue: true,
    reason: `The conversation takes ${Math.round(usage.percentUsed)} % of the context window (${tokens}); collection is due at ${thresholdPercent} %.`,
  }
}

/** `128000` as `128,000`. */
export function toCount(value: number): string {
  return Math.round(value).toLocaleString("en-US")
}
