import { z } from "zod"
import { lazily } from "../base/lazily.ts"
import type { ArtifactHash, GroupId, TaskId } from "../task/id.ts"
import type { BackgroundTaskResult } from "./background-result.ts"

const LATEST_TIME = 8_640_000_000_000_000

/** A result that was kept outside the store: it may be anything by now. */
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
