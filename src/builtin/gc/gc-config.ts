import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"

export const GC_STRATEGIES = ["truncate", "summarize", "hybrid", "none"] as const

const options = lazily(() => {
  const count = z.number().int().positive()
  return {
    keepRecentTurns: count.default(4).describe("How many of the newest turns always stay."),
    keepFirstTurn: z
      .boolean()
      .default(false)
      .describe("Whether the first turn stays too: it often says what all the others are about."),
    summaryMaxTokens: count
      .min(64)
      .default(2_000)
      .describe("The longest summary. A small context window makes it shorter."),
    middleTurns: count
      .default(20)
      .describe("For hybrid: how many turns before the recent ones are summarised; older turns are dropped."),
  }
})

/** The kept part of a conversation, and the size of the summary of the rest. */
const gcOptionsSchema = lazily(() => z.strictObject(options()).readonly())
export type GcOptions = z.input<ReturnType<typeof gcOptionsSchema>>
export type GcSettings = z.output<ReturnType<typeof gcOptionsSchema>>

/** The section `gc` of the configuration. */
export const gcConfigSchema = lazily(() => {
  const percent = z.number().min(1).max(100)
  return z
    .strictObject({
      strategy: z
        .enum(GC_STRATEGIES)
        .default("hybrid")
        .describe("How old turns are collected: truncate, summarize, hybrid (both), or none."),
      thresholdPercent: percent.default(75).describe("Share of the context window at which collection is due."),
      targetPercent: percent.default(50).describe("Share of the context window to come down to."),
      ...options(),
    })
    .refine(({ targetPercent, thresholdPercent }) => targetPercent < thresholdPercent, {
      path: ["targetPercent"],
      error: "must be below thresholdPercent: otherwise a collection would make no room",
    })
    .readonly()
})
export type GcSection = z.output<ReturnType<typeof gcConfigSchema>>

export function toGcSettings(input: GcOptions): GcSettings {
  const parsed = gcOptionsSchema().safeParse(input)
  if (parsed.success) return parsed.data
  throw new MeanwhileError(
    "invalid_input",
    `The options of the gc plugin are not valid.\n${z.prettifyError(parsed.error)}`,
  )
}
