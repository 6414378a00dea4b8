import type { JsonObject } from "../../base/json.ts"
import { withHops } from "../../runner/run/hops.ts"
import type { GroupId, TaskId } from "../../task/id.ts"

/**
 * The mark of a report in its turn's record. By it, the process that continues the turn after a crash publishes the report.
 */
export interface ReportMark {
  readonly messageId: string
  readonly taskIds: readonly TaskId[]
  readonly groupId: GroupId | null
  /** How many reports lie between this one and a person's words, itself included. */
  readonly hops: number
}

export function toReportMetadata(mark: ReportMark): JsonObject {
  return withHops({ report: { ...mark } }, mark.hops)
}

export function readReportMark({ report }: JsonObject): ReportMark | null {
  return typeof report === "object" && report !== null ? (report as unknown as ReportMark) : null
}
