import type { GcConfig } from "../plugin/gc-plugin.ts"

export const DEFAULT_GC_CONFIG: GcConfig = { thresholdPercent: 75, targetPercent: 50 }
