import { z } from "zod"
import type { JsonObject, JsonValue } from "../base/json.ts"
import { lazily } from "../base/lazily.ts"
import type { ArtifactHash, GroupId, TaskId } from "../task/id.ts"
import type { ArtifactReference } from "../task/patch.ts"

/** The result of a background run, as its session sees it until the result is used. */
export interface BackgroundTaskResult {
  readonly taskId: TaskId
  readonly groupId: GroupId | null
  /** `failed` stands for every end but `completed`; the summary says which end it was. */
  readonly status: "completed" | "failed"
  /** About a hundred tokens for the model; null when there is nothing to say. */
  readonly summary: string | null
  /** The whole payload, for programs. A notice shows a tool's payload up to a bound, and of an agent what it said. */
  readonly payload: JsonValue
  readonly facts: JsonObject
  readonly artifacts: readonly ArtifactReference[]
  readonly consumed: boolean
  readonly completedAt: number
}

/** The results of a session's background tasks that it has not used yet. A view only: the notices are the truth. */
export interface Trajectory {
  /** By task, the oldest end first. */
  unconsumed(): Promise<ReadonlyMap<TaskId, BackgroundTaskResult>>
  /** Returns how many had not been used before. */
  markConsumed(ids: readonly string[]): Promise<number>
  /** Deletes output and payload of used results now, instead of at the end of their retention time; returns how many. */
  clearConsumed(): Promise<number>
}

const LATEST_TIME = 8_640_000_000_000_000

/** Parses a result that was kept outside the store, where anything may have happened to it. */
export const backgroundResultSchema = lazily((): z.ZodType<BackgroundTaskResult> => {
  const id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, "is no id")
  return z.strictObject({
    taskId: id.transform((text) => text as TaskId),
    groupId: id.transform((text) => text as GroupId).nullable(),
    status: z.enum(["completed", "failed"]),
    summary: z.string().nullable(),
    payload: z.json(),
    facts: z.record(z.string(), z.json()),
    artifacts: z.array(
      z.strictObject({
        hash: z.string().transform((text) => text as ArtifactHash),
        name: z.string(),
        mediaType: z.string(),
        bytes: z.number().int().nonnegative(),
      }),
    ),
    consumed: z.boolean(),
    completedAt: z.number().int().nonnegative().max(LATEST_TIME),
  })
})
