import type { CollectionContext, GcConfig } from "../../plugin/gc-plugin.ts"
import type { ContextUsage } from "../../plugin/context-usage.ts"
import type { Message } from "../../plugin/message.ts"

export type EstimateTokens = CollectionContext["estimateTokens"]

/** A wider gap between estimate and use comes from what precedes every conversation: instructions and tools. */
const WIDEST_CORRECTION = 4

export interface Budget {
  /** Estimated tokens of the messages now. */
  readonly takenTokens: number
  /** Allowed tokens, by the same estimate. */
  readonly targetTokens: number
  /** The most that one request for a summary may hold. */
  readonly chunkTokens: number
}

/**
 * Estimates are corrected by what the provider counted: without that, an estimate too low would never make enough room.
 */
export function toBudget(
  messages: readonly Message[],
  usage: ContextUsage,
  config: GcConfig,
  estimate: EstimateTokens,
): Budget {
  const takenTokens = sumTokens(messages, estimate)
  const correction = Math.min(Math.max(1, usage.usedTokens / Math.max(1, takenTokens)), WIDEST_CORRECTION)
  return {
    takenTokens,
    targetTokens: Math.floor((usage.limitTokens * config.targetPercent) / 100 / correction),
    chunkTokens: Math.max(1, Math.floor(usage.limitTokens / 2 / correction)),
  }
}

export function sumTokens(messages: readonly Message[], estimate: EstimateTokens): number {
  return messages.reduce((sum, message) => sum + estimate(message), 0)
}
