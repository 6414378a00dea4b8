import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { GcPlugin } from "../../plugin/gc-plugin.ts"
import { collectPieces } from "./collect-pieces.ts"
import { shouldCollect } from "./collection-due.ts"
import { type GcOptions, toGcSettings } from "./gc-config.ts"

/** Drops the oldest turns, as many as needed, and says so in their place. */
export function createTruncateGc(options: GcOptions = {}): GcPlugin {
  const settings = toGcSettings(options)
  return defineBuiltin({
    kind: "gc",
    name: "gc_truncate",
    shouldCollect,
    collect: (messages, usage, config, _reason, context) =>
      collectPieces({ messages, usage, config, context, settings, strategy: "truncate" }),
  })
}
