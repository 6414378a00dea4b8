import type { GroupArrival, GroupJoin, GroupRecord } from "../../../task/group.ts"
import type { Columns } from "./columns.ts"

export type GroupRow = Columns<Omit<GroupRecord, "join" | "failFast" | "arrivals">> & {
  readonly join_when: string
  readonly fail_fast: number
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
