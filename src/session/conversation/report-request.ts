import type { JsonObject } from "../../base/json.ts"
import type { MergeStrategy } from "../../task/group.ts"
import type { GroupId, SessionId, TaskId } from "../../task/id.ts"
import type { Patch } from "../../task/patch.ts"

/** The material of a report. It holds a summary of the conversation, not all of it. */
export interface ReportRequest {
  /** `report_` and twelve hexadecimal digits. */
  readonly messageId: string
  readonly session: SessionId
  readonly traceId: string | null
  /** The first task, or `group_` and the id of the group. */
  readonly subject: string
  readonly taskIds: readonly TaskId[]
  readonly groupId: GroupId | null
  readonly isGroupReport: boolean
  /** The purpose of the task or the group. */
  readonly description: string
  readonly executionTimeMs: number | null
  /** The patch of a single task; for a group, the digests of all its members. */
  readonly patch: Patch
  /** The patch of every member, in the order in which they were started. */
  readonly combinedPatches: readonly Patch[]
  readonly mergeStrategy: MergeStrategy
  readonly queuedAt: number
  /** The last messages, in short. */
  readonly memorySummary: JsonObject
  /** What plugins keep with the conversation, such as a plan: their documents, by plugin and name. */
  readonly toolContext: JsonObject
  /** The state of the conversation that the request was made from, for finding mistakes. */
  readonly contextVersion: number
  readonly contextHash: string
  /** 0: tasks that the report starts in the background are refused, so that no report follows it. */
  readonly hopsRemaining: number
  /** The results as the default prompt tells them, quoted as data. */
  readonly resultsText: string
}

/** Makes the text of a report. The default takes a full turn of the agent, with all its tools. */
export type ReportGenerator = (request: ReportRequest, signal: AbortSignal) => Promise<string>

export interface ReportOptions {
  /** Writes reports instead of a turn of the agent. */
  readonly generator?: ReportGenerator
}
