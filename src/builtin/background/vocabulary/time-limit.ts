import { z } from "zod"
import type { JsonObject } from "../../../base/json.ts"
import { lazily } from "../../../base/lazily.ts"
import { LIFETIMES, type TaskRecord } from "../../../task/record.ts"

export const timeoutSeconds = lazily(() =>
  z.number().nonnegative().describe("Stop the task when it has run for so long. 0: no limit."),
)

export const lifetime = lazily(() =>
  z
    .enum(LIFETIMES)
    .describe(
      "When it is stopped although nobody asks: with this turn, with this conversation, with the program (runtime), or " +
        "never (forever, which also has no time limit of its own).",
    ),
)

/** Null: no limit. Undefined: none was asked for. */
export function toTimeoutMs(seconds: number | undefined): number | null | undefined {
  return seconds === 0 ? null : seconds && seconds * 1_000
}

/** How long a task may run in all; null: as long as it needs. */
export function toLimitFacts({ limits: { timeoutMs } }: Pick<TaskRecord, "limits">): JsonObject {
  return { time_limit_seconds: timeoutMs === null ? null : timeoutMs / 1_000 }
}

/** A sentence about the time limit; empty if the task has none. */
export function toLimitText({ limits: { timeoutMs } }: Pick<TaskRecord, "limits">): string {
  return timeoutMs === null ? "" : `It is stopped when it has run for ${timeoutMs / 1_000} s.`
}
