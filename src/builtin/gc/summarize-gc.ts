import { defineBuiltin } from "../../plugin/define-plugin.ts"
import type { GcPlugin } from "../../plugin/gc-plugin.ts"
import { collectPieces } from "./collect-pieces.ts"
import { shouldCollect } from "./collection-due.ts"
import { type GcOptions, toGcSettings } from "./gc-config.ts"

/** Puts a summary, written by the model of the conversation, in the place of all but the recent turns. */
export function createSummarizeGc(options: GcOptions = {}): GcPlugin {
  const settings = toGcSettings(options)
  return defineBuiltin({
    kind: "gc",
    name: "gc_summarize",
    shouldCollect,
    collect: (messages, usage, config, _reason, context) =>
      collectPieces({ messages, usage, config, context, settings, strategy: "summarize" }),
  })
}
