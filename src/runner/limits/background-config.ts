import { z } from "zod"
import { MOST_TASKS_AT_ONCE } from "../../base/concurrency-limit.ts"
import { MeanwhileError } from "../../base/error.ts"
import { renameKeys, requireOneSpelling } from "../../base/rename-keys.ts"
import { lazily } from "../../base/lazily.ts"

/** Limits of one runner. Every key has a default that works; `docs/guide/configuration.md` explains each. */
export const backgroundConfigSchema = lazily(() => {
  const count = z.number().int().positive()
  const seconds = z.number().positive()
  return z
    .strictObject({
      maxConcurrentTasks: z
        .number()
        .int()
        .nonnegative()
        .max(MOST_TASKS_AT_ONCE)
        .default(10)
        .describe(
          "Tasks that run at once in this process, at most 100,000; more are queued. 0: all are left to others.",
        ),
      maxConcurrentPerPlugin: count.default(4).describe("Of these, at most so many per plugin."),
      maxConcurrentPerSession: count.default(8).describe("And per session."),
      maxConcurrentPerWorkspace: count
        .nullable()
        .default(null)
        .describe("And per workspace. null: no limit of its own."),
      maxConcurrentPerModel: z.record(z.string(), count).default({}).describe("And per model, by the model's name."),
      maxAgentDepth: z
        .number()
        .int()
        .nonnegative()
        .default(3)
        .describe("How deep agents may start agents; deeper ones are refused."),
      maxAgentFanOut: count.default(8).describe("Live agents that one task may have started; more are refused."),
      maxTokensPerTask: count.nullable().default(null).describe("Caps the tokens a task may spend. null: no cap."),
      maxCostMicrosPerTask: count
        .nullable()
        .default(null)
        .describe("Caps the money a task may spend, in millionths of a US dollar. null: no cap."),
      defaultTimeoutSeconds: seconds
        .default(300)
        .describe("The time limit of a tool task that names none and is not forever."),
      timeoutOverrideSeconds: seconds
        .nullable()
        .default(null)
        .describe("Caps every time limit, whoever asked for it; above thresholdSeconds. null: no cap."),
      foregroundTimeoutSeconds: seconds
        .default(10)
        .describe("The time limit of a tool that cannot move to the background and names none."),
      thresholdSeconds: seconds
        .default(10)
        .describe("When a call is promoted whose tool can be promoted and names no threshold."),
      completedTaskRetentionSeconds: z
        .number()
        .nonnegative()
        .default(3600)
        .describe("How long output and payload stay once a result was used."),
      recordRetentionDays: z
        .number()
        .nonnegative()
        .default(30)
        .describe("How long the record of a used task without a session stays."),
      outputLimitBytes: count
        .min(4096)
        .default(64 * 1024 * 1024)
        .describe("The output that is kept per task. Past it the oldest goes, down to the newest half of this."),
      stopGraceSeconds: z.number().nonnegative().default(5).describe("Between asking a process to end and ending it."),
      retainTurnTimeoutMs: count
        .default(30_000)
        .describe("How long a turn is kept open for a task that was started to be waited for."),
      completionScanIntervalMs: count.default(5_000).describe("How often ends are looked for whose event was lost."),
      questionExpirySeconds: seconds
        .default(86_400)
        .describe("How long a question of a background agent waits in the inbox before its default is taken."),
      vocabulary: z
        .enum(["meanwhile", "jaato", "opencode", "penguiflow"])
        .default("meanwhile")
        .describe("The names and shapes under which the model sees the tools for tasks."),
      leaseSeconds: seconds.default(10).describe("A worker silent for so long has its runs taken over."),
      hostReturnSeconds: seconds
        .default(86_400)
        .describe(
          "On PostgreSQL, how long what outlives a worker that was stopped (`forever`) is left for the next one of its data folder.",
        ),
    })
    .refine(({ timeoutOverrideSeconds: cap, thresholdSeconds }) => cap === null || cap > thresholdSeconds, {
      path: ["timeoutOverrideSeconds"],
      error:
        "must exceed thresholdSeconds: otherwise every call would be stopped before it could move to the background",
    })
    .readonly()
})

export type BackgroundConfig = z.output<ReturnType<typeof backgroundConfigSchema>>
export interface BackgroundConfigInput extends z.input<ReturnType<typeof backgroundConfigSchema>> {
  /** Another spelling of `thresholdSeconds`. */
  readonly backgroundThresholdSeconds?: number | undefined
}

export const BACKGROUND_SPELLINGS = { backgroundThresholdSeconds: "thresholdSeconds" } as const

export function toBackgroundConfig(input: BackgroundConfigInput = {}): BackgroundConfig {
  requireOneSpelling(input, BACKGROUND_SPELLINGS)
  const parsed = backgroundConfigSchema().safeParse(renameKeys(input, BACKGROUND_SPELLINGS))
  if (parsed.success) return parsed.data
  throw new MeanwhileError(
    "invalid_input",
    `The background configuration is not valid.\n${z.prettifyError(parsed.error)}`,
  )
}
