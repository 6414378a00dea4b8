import type { ContextUsage } from "../../plugin/context-usage.ts"
import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { CollectionDecision, GcConfig, GcPlugin } from "../../plugin/gc-plugin.ts"
import { collectPieces, type GcStrategy, toCount } from "./collect-pieces.ts"
import { type GcOptions, type GcSection, toGcSettings } from "./gc-config.ts"

/** Drops the oldest turns, as many as needed, and says so in their place. */
export const createTruncateGc = (options: GcOptions = {}): GcPlugin => createGc("truncate", options)

/** Puts a summary, written by the model of the conversation, in the place of all but the recent turns. */
export const createSummarizeGc = (options: GcOptions = {}): GcPlugin => createGc("summarize", options)

/** Generational: recent turns stay, those before them are summarised together with what was summarised before, older ones go. */
export const createHybridGc = (options: GcOptions = {}): GcPlugin => createGc("hybrid", options)

/** The plugin that the configuration asks for; null for `none`. */
export function createGcPlugin(config: GcSection): GcPlugin | null {
  const { strategy, thresholdPercent: _threshold, targetPercent: _target, ...options } = config
  return strategy === "none" ? null : createGc(strategy, options)
}

function createGc(strategy: GcStrategy, options: GcOptions): GcPlugin {
  const settings = toGcSettings(options)
  return defineBuiltin({
    kind: "gc",
    name: `gc_${strategy}`,
    shouldCollect,
    collect: (messages, usage, config, _reason, context) =>
      collectPieces({ messages, usage, config, context, settings, strategy }),
  })
}

function shouldCollect(usage: ContextUsage, { thresholdPercent }: GcConfig): CollectionDecision {
  if (usage.percentUsed < thresholdPercent) return { isDue: false }
  const tokens = `${toCount(usage.usedTokens)} of ${toCount(usage.limitTokens)} tokens`
  return {
    isDue: true,
    reason: `The conversation takes ${Math.round(usage.percentUsed)} % of the context window (${tokens}); collection is due at ${thresholdPercent} %.`,
  }
}
