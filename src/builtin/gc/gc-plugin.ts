import type { GcPlugin } from "../../plugin/gc-plugin.ts"
import type { GcSection } from "./gc-config.ts"
import { createHybridGc } from "./hybrid-gc.ts"
import { createSummarizeGc } from "./summarize-gc.ts"
import { createTruncateGc } from "./truncate-gc.ts"

const FACTORIES = { truncate: createTruncateGc, summarize: createSummarizeGc, hybrid: createHybridGc }

/** The plugin that the configuration asks for; null for `none`. */
export function createGcPlugin(config: GcSection): GcPlugin | null {
  const { strategy, thresholdPercent: _threshold, targetPercent: _target, ...options } = config
  return strategy === "none" ? null : FACTORIES[strategy](options)
}
