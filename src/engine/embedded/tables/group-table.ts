import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import type { GroupArrival, GroupRecord, GroupState } from "../../../task/group.ts"
import type { GroupId, SessionId } from "../../../task/id.ts"
import type { GroupFilter } from "../../../task/store.ts"
import { createStatementCache, LIMIT, prepare } from "../sqlite/statement.ts"
import { type GroupRow, toGroupRecord, toJoin } from "../../rules/rows/group-row.ts"
import type { GroupTable } from "../../rules/tables.ts"

export interface StoredGroups extends GroupTable {
  /** Newest first. */
  read(filter: GroupFilter, limit: number): readonly GroupRecord[]
}

interface StandingRow {
  readonly session: SessionId | null
  readonly join_when: string
  readonly state: GroupState
  readonly member_count: number
  readonly arrived: number
}

export function createGroupTable(database: DatabaseSync): StoredGroups {
  const statement = createStatementCache(database)
  const find = prepare<GroupRow>(database, "SELECT * FROM groups WHERE id = ?")
  const arrivals = prepare<GroupArrival>(
    database,
    "SELECT task_id AS taskId, run, status FROM arrivals WHERE group_id = ? ORDER BY task",
  )
  const entryOf = prepare<Pick<GroupRow, "workspace" | "state">>(
    database,
    "SELECT workspace, state FROM groups WHERE id = ?",
  )
  const silent = prepare(database, "SELECT 1 FROM groups WHERE id = ? AND report = 'none'")
  const standingOf = prepare<StandingRow>(
    database,
    `SELECT session, join_when, state, member_count, CASE state WHEN 'sealed'
       THEN (SELECT count(*) FROM arrivals WHERE group_id = groups.id) ELSE 0 END AS arrived FROM groups WHERE id = ?`,
  )
  const insert = prepare(database, "INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, 0)")
  const move = prepare(database, "UPDATE groups SET state = ? WHERE id = ?")
  const count = prepare(database, "UPDATE groups SET member_count = member_count + ? WHERE id = ?")
  const arrive = prepare(database, "INSERT OR REPLACE INTO arrivals VALUES (?, ?, ?, ?, ?)")
  const depart = prepare(
    database,
    `DELETE FROM arrivals WHERE group_id = ?1 AND task = ?2
       AND EXISTS (SELECT 1 FROM groups WHERE id = ?1 AND state IN ('open', 'sealed'))`,
  )
  const removeArrival = prepare(database, "DELETE FROM arrivals WHERE group_id = ? AND task = ?")
  const removeEmpty = prepare(
    database,
    "DELETE FROM groups WHERE id = ? AND session IS NULL AND member_count = 0 AND state IN ('joined', 'cancelled')",
  )
  const ofSession = prepare<{ id: GroupId }>(database, "SELECT id FROM groups WHERE session = ?")
  const removeArrivals = prepare(database, "DELETE FROM arrivals WHERE group_id = ?")
  const remove = prepare(database, "DELETE FROM groups WHERE id = ?")
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
      const { sql, parameters } = toQuery(filter)
      const rows = statement<GroupRow>(sql).all(...parameters, limit)
      return rows.map((row) => toGroupRecord(row, arrivals.all(row.id)))
    },
    insert({ id, workspace, session, name, join, failFast, report, merge }, at) {
      insert.run(id, workspace, session, name, JSON.stringify(join), failFast ? 1 : 0, report, merge, at)
    },
    move: (id, to) => void move.run(to, id),
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

/**
 * Unfinished groups and results that a person decides on are indexed: the query repeats that condition to use the
 * index.
 */
function toQuery(filter: GroupFilter): { sql: string; parameters: SQLInputValue[] } {
  const conditions: string[] = []
  const parameters: SQLInputValue[] = []
  function demand(condition: string, ...values: SQLInputValue[]): void {
    conditions.push(condition)
    parameters.push(...values)
  }
  const { workspace, session, states, name, idPrefix, failFast, merge, withoutTask } = filter
  if (idPrefix !== undefined) demand("id >= ? AND id < ? || char(0x10ffff)", idPrefix, idPrefix)
  if (session === null) demand("session IS NULL")
  else if (session !== undefined) demand("session = ?", session)
  if (workspace !== undefined) demand("workspace = ?", workspace)
  if (name !== undefined) demand("name = ?", name)
  if (failFast !== undefined) demand("fail_fast = ?", failFast ? 1 : 0)
  if (merge === "human_gated") demand("merge = 'human_gated'")
  else if (merge !== undefined) demand("merge = ?", merge)
  if (withoutTask !== undefined) demand(`member_count > 0 AND NOT EXISTS (${TASK_OF_GROUP})`, withoutTask)
  if (states) demand(`state IN (${states.map(() => "?").join(", ")})`, ...states)
  if (states?.every((state) => UNFINISHED.has(state))) demand("state IN ('open', 'sealed')")
  const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : ""
  return { sql: `SELECT * FROM groups ${where} ORDER BY created_at DESC, id ${LIMIT}`, parameters }
}
