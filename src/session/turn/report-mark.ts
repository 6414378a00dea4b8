import type { JsonObject } from "../../base/json.ts"
import { withHops } from "../../runner/limits/hops.ts"
import type { GroupId, TaskId } from "../../task/id.ts"

/** What the record of a turn says when nobody asked for it: whoever goes on with it after a crash publishes its end. */
export interface ReportMark {
  readonly messageId: string
  readonly taskIds: readonly TaskId[]
  readonly groupId: GroupId | null
  /** How many reports lie between it and a person's words, itself included. */
  readonly hops: number
}

export function toReportMetadata(mark: ReportMark): JsonObject {
  return withHops({ report: { ...mark } }, mark.hops)
}

export function readReportMark({ report }: JsonObject): ReportMark | null {
  return typeof report === "object" && report !== null ? (report as unknown as ReportMark) : null
}
