import { z } from "zod"
import type { JsonValue } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import type { Announcement } from "../../plugin/worker-view.ts"
import { TASK_KINDS } from "../../task/record.ts"
import type { WorkerId } from "../../task/id.ts"
import type { OperationOf } from "../../task/operation.ts"
import { ANNOUNCEMENTS } from "../../task/worker.ts"

const announcementSchema = lazily(() =>
  z.object({
    version: z.string(),
    since: z.number(),
    takes: z.enum(["all", "own"]),
    kinds: z.array(z.enum(TASK_KINDS)),
    plugins: z.record(z.string(), z.array(z.string())),
    concurrency: z.number(),
    leaves: z.array(z.string()).default([]),
    isLeaving: z.boolean().default(false),
  }),
)

/** Null when this version does not understand the value. */
export function parseAnnouncement(value: JsonValue): Announcement | null {
  return announcementSchema().safeParse(value).data ?? null
}

/** Removes the announcement of a worker, in the commit that ends its lease. */
export function toAnnouncementRemoval(id: WorkerId): OperationOf<"document.delete"> {
  return { op: "document.delete", ...ANNOUNCEMENTS, id }
}
