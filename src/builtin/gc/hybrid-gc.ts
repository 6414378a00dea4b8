import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { GcPlugin } from "../../plugin/gc-plugin.ts"
import { collectPieces } from "./collect-pieces.ts"
import { shouldCollect } from "./collection-due.ts"
import { type GcOptions, toGcSettings } from "./gc-config.ts"

/** Generational: recent turns stay, those before them are summarised together with what was summarised before, older ones go. */
export function createHybridGc(options: GcOptions = {}): GcPlugin {
  const settings = toGcSettings(options)
  return defineBuiltin({
    kind: "gc",
    name: "gc_hybrid",
    shouldCollect,
    collect: (messages, usage, config, _reason, context) =>
      collectPieces({ messages, usage, config, context, settings, strategy: "hybrid" }),
  })
}
