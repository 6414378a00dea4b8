import { z } from "zod"
import { MeanwhileError } from "../base/error.ts"

const count = z.number().int().positive()
const seconds = z.number().positive()

/** Limits of one runner. Every key has a default that works; `docs/guide/configuration.md` explains each. */
export const backgroundConfigSchema = z
  .strictObject({
    /** Tasks that run at once in this process. More are queued. */
    maxConcurrentTasks: count.default(10),
    maxConcurrentPerPlugin: count.default(4),
    maxConcurrentPerSession: count.default(8),
    /** Null: no limit of its own. */
    maxConcurrentPerWorkspace: count.nullable().default(null),
    maxConcurrentPerModel: z.record(z.string(), count).default({}),
    /** An agent's agents' agents: deeper ones are refused. */
    maxAgentDepth: z.number().int().nonnegative().default(3),
    /** Live agents started by one task: more are refused. */
    maxAgentFanOut: count.default(8),
    maxTokensPerTask: count.nullable().default(null),
    maxCostMicrosPerTask: count.nullable().default(null),
    /** For `tool` tasks that name no limit and are not `forever`. */
    defaultTimeoutSeconds: seconds.default(300),
    /** Caps every time limit, whoever asked for it. Null: no cap. */
    timeoutOverrideSeconds: seconds.nullable().default(null),
    /** For tools that cannot move to the background. */
    foregroundTimeoutSeconds: seconds.default(10),
    /** For capable tools that name no threshold. */
    backgroundThresholdSeconds: seconds.default(10),
    /** How long output and payload stay once a result was used. */
    completedTaskRetentionSeconds: z.number().nonnegative().default(3600),
    /** How long the record of a used task without a session stays. */
    recordRetentionDays: z.number().nonnegative().default(30),
    /** Newest output kept per task. */
    outputLimitBytes: count.min(4096).default(64 * 1024 * 1024),
    /** Between asking a process to end and ending it. */
    stopGraceSeconds: z.number().nonnegative().default(5),
    /** A worker silent for so long has its runs taken over. */
    leaseSeconds: seconds.default(15),
  })
  .refine(
    ({ timeoutOverrideSeconds: cap, backgroundThresholdSeconds }) => cap === null || cap > backgroundThresholdSeconds,
    {
      path: ["timeoutOverrideSeconds"],
      error:
        "must exceed backgroundThresholdSeconds: otherwise every call would be stopped before it could move to the background",
    },
  )
  .readonly()

export type BackgroundConfig = z.output<typeof backgroundConfigSchema>
export type BackgroundConfigInput = z.input<typeof backgroundConfigSchema>

export function toBackgroundConfig(input: BackgroundConfigInput = {}): BackgroundConfig {
  const parsed = backgroundConfigSchema.safeParse(input)
  if (parsed.success) return parsed.data
  throw new MeanwhileError(
    "invalid_input",
    `The background configuration is not valid.\n${z.prettifyError(parsed.error)}`,
  )
}
