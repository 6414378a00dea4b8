import type { GroupArrival, GroupState } from "../../../task/group.ts"
import type { GroupId } from "../../../task/id.ts"
import type { GroupFilter } from "../../../task/store.ts"
import { type GroupRow, toGroupRecord, toJoin } from "../../rules/rows/group-row.ts"
import type { GroupTable } from "../../rules/tables.ts"
import type { Reads } from "../read/reads.ts"
import { among, equal, flag, given, toWhere, type Where } from "../sqlite/condition.ts"
import { LIMIT, type Prepare } from "../sqlite/statement.ts"

export type StoredGroups = GroupTable & { readonly read: Reads["groups"] }

type StandingRow = Pick<GroupRow, "session" | "join_when" | "state" | "member_count"> & { readonly arrived: number }

export function createGroupTable(prepare: Prepare): StoredGroups {
  const find = prepare<GroupRow>("SELECT * FROM groups WHERE id = ?")
  const arrivals = prepare<GroupArrival>(
    "SELECT task_id AS taskId, run, status FROM arrivals WHERE group_id = ? ORDER BY task",
  )
  const entryOf = prepare<Pick<GroupRow, "workspace" | "state">>("SELECT workspace, state FROM groups WHERE id = ?")
  const silent = prepare("SELECT 1 FROM groups WHERE id = ? AND report = 'none'")
  const standingOf = prepare<StandingRow>(`SELECT session, join_when, state, member_count, CASE state WHEN 'sealed'
       THEN (SELECT count(*) FROM arrivals WHERE group_id = groups.id) ELSE 0 END AS arrived FROM groups WHERE id = ?`)
  const insert = prepare("INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, 0)")
  const move = prepare("UPDATE groups SET state = ? WHERE id = ?")
  const readdress = prepare("UPDATE groups SET session = ? WHERE id = ? AND session IS ?")
  const count = prepare("UPDATE groups SET member_count = member_count + ? WHERE id = ?")
  const arrive = prepare("INSERT OR REPLACE INTO arrivals VALUES (?, ?, ?, ?, ?)")
  const depart = prepare(`DELETE FROM arrivals WHERE group_id = ?1 AND task = ?2
       AND EXISTS (SELECT 1 FROM groups WHERE id = ?1 AND state IN ('open', 'sealed'))`)
  const removeArrival = prepare("DELETE FROM arrivals WHERE group_id = ? AND task = ?")
  const removeEmpty = prepare(
    "DELETE FROM groups WHERE id = ? AND session IS NULL AND member_count = 0 AND state IN ('joined', 'cancelled')",
  )
  const ofSession = prepare<{ id: GroupId }>("SELECT id FROM groups WHERE session = ?")
  const removeArrivals = prepare("DELETE FROM arrivals WHERE group_id = ?")
  const remove = prepare("DELETE FROM groups WHERE id = ?")
  return {
    find(id) {
      const row = find.get(id)
      return row && toGroupRecord(row, arrivals.all(id))
    },
    entryOf: (id) => entryOf.get(id),
    isSilent: (id) => silent.get(id) !== undefined,
    standingOf(id) {
      const row = standingOf.get(id)
      if (!row) return undefined
      const { session, state, join_when, member_count: memberCount, arrived } = row
      return { session, state, join: toJoin(join_when), memberCount, arrivals: { length: arrived } }
    },
    read(filter, limit) {
      const { where, parameters } = toConditions(filter)
      const sql = `SELECT * FROM groups WHERE ${where} ORDER BY created_at DESC, id ${LIMIT}`
      const rows = prepare<GroupRow>(sql).all(...parameters, limit)
      return rows.map((row) => toGroupRecord(row, arrivals.all(row.id)))
    },
    insert({ id, workspace, session, name, join, failFast, report, merge }, at) {
      insert.run(id, workspace, session, name, JSON.stringify(join), failFast ? 1 : 0, report, merge, at)
    },
    move: (id, to) => void move.run(to, id),
    readdress: (id, from, to) => void readdress.run(to, id, from),
    addMember: (id) => void count.run(1, id),
    arrive: (id, task, { taskId, run, status }) => void arrive.run(id, task, taskId, run, status),
    depart: (id, task) => void depart.run(id, task),
    removeMember(id, task) {
      removeArrival.run(id, task)
      count.run(-1, id)
      removeEmpty.run(id)
    },
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

const TASK_OF_GROUP =
  "SELECT 1 FROM tasks WHERE tasks.workspace = groups.workspace AND tasks.idempotency_key = ? || groups.id"

const UNFINISHED: ReadonlySet<GroupState> = new Set(["open", "sealed"])

/** Unfinished groups and gated groups have indexes of their own: the query repeats an index's condition to use it. */
function toConditions(filter: GroupFilter): Where {
  const { workspace, session, states, name, idPrefix, failFast, merge, withoutTask } = filter
  return toWhere([
    idPrefix === undefined ? undefined : { sql: "id >= ? AND id < ? || char(0x10ffff)", values: [idPrefix, idPrefix] },
    equal("session", session),
    equal("workspace", workspace),
    equal("name", name),
    flag(failFast, "fail_fast = 1", "fail_fast = 0"),
    merge === "human_gated" ? flag(true, "merge = 'human_gated'") : equal("merge", merge),
    given(`member_count > 0 AND NOT EXISTS (${TASK_OF_GROUP})`, withoutTask),
    among("state", states),
    flag(
      states?.every((state) => UNFINISHED.has(state)),
      "state IN ('open', 'sealed')",
    ),
  ])
}
