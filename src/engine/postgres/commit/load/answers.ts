import type { GroupArrival } from "../../../../task/group.ts"
import type { GroupId, SessionId, TaskId, WorkspaceId } from "../../../../task/id.ts"
import type { GroupRow } from "../../../rules/rows/group-row.ts"
import type { NoticeRow } from "../../../rules/rows/notice-row.ts"
import type { SessionRow } from "../../../rules/rows/session-row.ts"
import type { StepRow } from "../../../rules/rows/step-row.ts"
import type { WaitRow } from "../../../rules/rows/wait-row.ts"
import type { HeardLeaseRow } from "../../read/lease-reads.ts"
import type { DocumentKey, NumberKind } from "../working-set/wants.ts"

/** What is locked beside tasks, by the name it is asked for under. */
export interface LockedRows extends Record<NumberKind, readonly number[]> {
  readonly groups: readonly GroupRow[]
  readonly sessions: readonly SessionRow[]
  /** Not locked: for those who change nothing of the session. */
  readonly workspaces: readonly { readonly id: SessionId; readonly workspace: WorkspaceId }[]
  readonly leases: readonly HeardLeaseRow[]
  readonly documents: readonly (DocumentKey & { readonly version: number })[]
  readonly now: number
  readonly version: string
}

/** What belongs to rows that are locked, likewise. */
export interface DependentRows {
  readonly notices: readonly NoticeRow[]
  readonly claims: readonly NoticeRow[]
  readonly steps: readonly (StepRow & {
    readonly task: number
    readonly run: number
    readonly first_sequence: number
  })[]
  readonly completions: readonly { readonly task: number; readonly run: number; readonly last: number | null }[]
  readonly runs: readonly { readonly task: number; readonly record: string }[]
  readonly waits: readonly (WaitRow & { readonly task: number })[]
  readonly arrivals: readonly (Omit<GroupArrival, "taskId"> & {
    readonly group_id: GroupId
    readonly task: number
    readonly task_id: TaskId
  })[]
  readonly arrival_counts: readonly { readonly group_id: GroupId; readonly count: number }[]
}
