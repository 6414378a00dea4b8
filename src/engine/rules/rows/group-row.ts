import type {
  GroupArrival,
  GroupJoin,
  GroupRecord,
  GroupReport,
  GroupState,
  MergeStrategy,
} from "../../../task/group.ts"
import type { GroupId, SessionId, WorkspaceId } from "../../../task/id.ts"

export interface GroupRow {
  readonly id: GroupId
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly name: string
  readonly join_when: string
  readonly fail_fast: number
  readonly report: GroupReport
  readonly merge: MergeStrategy
  readonly state: GroupState
  readonly created_at: number
  readonly member_count: number
}

export const toJoin = (text: string): GroupJoin => JSON.parse(text) as GroupJoin

export function toGroupRecord(row: GroupRow, arrivals: readonly GroupArrival[]): GroupRecord {
  return {
    id: row.id,
    workspace: row.workspace,
    session: row.session,
    name: row.name,
    join: toJoin(row.join_when),
    failFast: row.fail_fast === 1,
    report: row.report,
    merge: row.merge,
    state: row.state,
    createdAt: row.created_at,
    memberCount: row.member_count,
    arrivals: arrivals.map(({ taskId, run, status }) => ({ taskId, run, status })),
  }
}
