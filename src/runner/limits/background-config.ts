import { z } from "zod"
import { MOST_TASKS_AT_ONCE } from "../../base/concurrency-limit.ts"
import { MeanwhileError } from "../../base/error.ts"
import { renameKeys, requireOneSpelling } from "../../base/rename-keys.ts"
import { lazily } from "../../base/lazily.ts"

/** Limits of one runner. Every key has a default that works; `docs/guide/configuration.md` explains each. */
export const backgroundConfigSchema = lazily(() => {
  const count = z.number().int().positive()
  const countOrNone = z.number().int().nonnegative()
  const seconds = z.number().positive()
  const timeOrNone = z.number().nonnegative()
  return z
    .strictObject({
      maxConcurrentTasks: countOrNone
        .max(MOST_TASKS_AT_ONCE)
        .default(10)
        .describe(
          "How many tasks run at once in this process, at most 100,000; the rest are queued. 0: this process runs none.",
        ),
      maxConcurrentPerPlugin: count
        .nullable()
        .default(null)
        .describe("How many tasks of one plugin run at once. null: no limit."),
      maxConcurrentPerSession: count.default(8).describe("How many tasks of one session run at once."),
      maxConcurrentPerWorkspace: count
        .nullable()
        .default(null)
        .describe("How many tasks of one workspace run at once. null: no limit."),
      maxConcurrentPerModel: z
        .record(z.string(), count)
        .default({})
        .describe("How many tasks run at once per model, by the model's name."),
      maxAgentDepth: countOrNone.default(3).describe("How deep agents may start agents; deeper ones are refused."),
      maxAgentFanOut: count.default(8).describe("Live agents that one task may have started; more are refused."),
      maxTokensPerTask: count.nullable().default(null).describe("Caps the tokens a task may spend. null: no cap."),
      maxCostMicrosPerTask: count
        .nullable()
        .default(null)
        .describe("Caps the money a task may spend, in millionths of a US dollar. null: no cap."),
      defaultTimeoutSeconds: seconds
        .nullable()
        .default(300)
        .describe("The time limit of a tool task that names none and is not forever. null: no limit."),
      timeoutOverrideSeconds: seconds
        .nullable()
        .default(null)
        .describe(
          "The longest time limit that a task can have, whatever it asks for; must exceed thresholdSeconds. null: no cap.",
        ),
      lifetime: z
        .enum(["session", "runtime", "forever"])
        .default("runtime")
        .describe(
          "When a tool task that names no lifetime is stopped although nobody asked: with its session, with the program, or never.",
        ),
      foregroundTimeoutSeconds: seconds
        .default(10)
        .describe("The time limit of a tool that cannot move to the background and names none."),
      thresholdSeconds: seconds
        .default(10)
        .describe("After so long a call moves to the background, if its tool can and names no threshold of its own."),
      completedTaskRetentionSeconds: timeOrNone
        .default(3600)
        .describe("How long output and payload stay once a result was used."),
      recordRetentionDays: timeOrNone
        .default(30)
        .describe("How long the record of a used task without a session stays."),
      outputLimitBytes: count
        .min(4096)
        .default(64 * 1024 * 1024)
        .describe("How much output is kept per task. When a task prints more, the newest half of this is kept."),
      stopGraceSeconds: timeOrNone
        .default(5)
        .describe("How long a process that is asked to end has before it is killed."),
      retainTurnTimeoutMs: count
        .default(30_000)
        .describe("How long a turn is kept open for a task that was started to be waited for."),
      completionScanIntervalMs: count
        .default(5_000)
        .describe("How often the store is read for ends whose event was lost."),
      questionExpirySeconds: seconds
        .default(86_400)
        .describe("How long a question of a background agent waits in the inbox before its default is taken."),
      vocabulary: z
        .enum(["meanwhile", "jaato", "opencode", "penguiflow"])
        .default("meanwhile")
        .describe("The names and shapes under which the model sees the tools for tasks."),
      leaseSeconds: seconds
        .default(10)
        .describe("After so long without a sign of life, a worker's runs are taken over by others."),
      hostReturnSeconds: seconds
        .default(86_400)
        .describe(
          "On PostgreSQL, how long tasks that outlive a worker are kept for the next worker of its data folder.",
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
