import type { DatabaseSync } from "node:sqlite"
import type {
  GroupArrival,
  GroupDetails,
  GroupJoin,
  GroupRecord,
  GroupReport,
  GroupState,
  MergeStrategy,
} from "../../../task/group.ts"
import type { GroupId, SessionId, WorkspaceId } from "../../../task/id.ts"
import { prepare } from "../statement.ts"

export interface GroupTable {
  find(id: GroupId): GroupRecord | undefined
  /** As little as a task that wants to join must know. */
  entryOf(id: GroupId): Pick<GroupRecord, "workspace" | "state"> | undefined
  insert(details: GroupDetails, at: number): void
  move(id: GroupId, to: GroupState): void
  countMember(id: GroupId, by: 1 | -1): void
  /** A member that arrives again replaces its arrival. */
  arrive(id: GroupId, task: number, arrival: GroupArrival): void
  removeArrival(id: GroupId, task: number): void
  removeOfSession(session: SessionId): readonly GroupId[]
}

interface GroupRow {
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

export function createGroupTable(database: DatabaseSync): GroupTable {
  const find = prepare<GroupRow>(database, "SELECT * FROM groups WHERE id = ?")
  const arrivals = prepare<GroupArrival>(
    database,
    "SELECT task_id AS taskId, run, status FROM arrivals WHERE group_id = ? ORDER BY task",
  )
  const entryOf = prepare<Pick<GroupRow, "workspace" | "state">>(
    database,
    "SELECT workspace, state FROM groups WHERE id = ?",
  )
  const insert = prepare(database, "INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, 0)")
  const move = prepare(database, "UPDATE groups SET state = ? WHERE id = ?")
  const count = prepare(database, "UPDATE groups SET member_count = member_count + ? WHERE id = ?")
  const arrive = prepare(database, "INSERT OR REPLACE INTO arrivals VALUES (?, ?, ?, ?, ?)")
  const removeArrival = prepare(database, "DELETE FROM arrivals WHERE group_id = ? AND task = ?")
  const ofSession = prepare<{ id: GroupId }>(database, "SELECT id FROM groups WHERE session = ?")
  const removeArrivals = prepare(database, "DELETE FROM arrivals WHERE group_id = ?")
  const remove = prepare(database, "DELETE FROM groups WHERE id = ?")
  return {
    find(id) {
      const row = find.get(id)
      return row && toGroupRecord(row, arrivals.all(id))
    },
    entryOf: (id) => entryOf.get(id),
    insert({ id, workspace, session, name, join, failFast, report, merge }, at) {
      insert.run(id, workspace, session, name, JSON.stringify(join), failFast ? 1 : 0, report, merge, at)
    },
    move: (id, to) => void move.run(to, id),
    countMember: (id, by) => void count.run(by, id),
    arrive: (id, task, { taskId, run, status }) => void arrive.run(id, task, taskId, run, status),
    removeArrival: (id, task) => void removeArrival.run(id, task),
    removeOfSession(session) {
      const ids = ofSession.all(session).map(({ id }) => id)
      for (const id of ids) {
        removeArrivals.run(id)
        remove.run(id)
      }
      return ids
    },
  }
}

function toGroupRecord(row: GroupRow, arrivals: readonly GroupArrival[]): GroupRecord {
  return {
    id: row.id,
    workspace: row.workspace,
    session: row.session,
    name: row.name,
    join: JSON.parse(row.join_when) as GroupJoin,
    failFast: row.fail_fast === 1,
    report: row.report,
    merge: row.merge,
    state: row.state,
    createdAt: row.created_at,
    memberCount: row.member_count,
    arrivals: arrivals.map((arrival) => ({ ...arrival })),
  }
}
