import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"

const milliseconds = z.number().int().positive()

/** When an agent speaks without being asked. `docs/guide/configuration.md` explains each key. */
export const reportsConfigSchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe("Whether the agent reports the results of its background tasks by itself. The terminal program does."),
    strategies: z
      .array(z.enum(["append", "replace"]))
      .default(["append", "replace"])
      .describe(
        "The merge strategies whose results are reported. human_gated results are reported once a person has decided.",
      ),
    maxQueued: z
      .number()
      .int()
      .positive()
      .default(5)
      .describe("Reports that wait for the conversation to be idle; more are put together with the last."),
    timeoutMs: milliseconds.default(60_000).describe("A report that takes longer becomes a plain notification."),
    maxHops: z
      .number()
      .int()
      .nonnegative()
      .default(2)
      .describe("How many reports may follow from one another by the tasks that they start."),
    maxConsecutiveWakes: z
      .number()
      .int()
      .nonnegative()
      .default(3)
      .describe("Reports in a row without a word from a person; after them, results wait for the next message."),
    maxDeferralMs: milliseconds
      .default(600_000)
      .describe("How long a result may wait for a busy conversation before the person is told of it directly."),
    fallbackNotification: z
      .boolean()
      .default(true)
      .describe("Shows the person a plain notification where no report can be made."),
  })
  .readonly()

export type ReportsConfig = z.output<typeof reportsConfigSchema>

/** The configuration that reports need. */
export interface ReportScope {
  readonly config: { readonly reports: ReportsConfig }
}

export type ReportsConfigInput = z.input<typeof reportsConfigSchema>

export function toReportsConfig(input: ReportsConfigInput = {}): ReportsConfig {
  const parsed = reportsConfigSchema.safeParse(input)
  if (parsed.success) return parsed.data
  throw new MeanwhileError("invalid_input", `The reports configuration is not valid.\n${z.prettifyError(parsed.error)}`)
}
