import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import type { Notice, NoticeState } from "../../../task/notice.ts"
import type { NoticeFilter } from "../../../task/store.ts"
import { createStatementCache, LIMIT, prepare } from "../sqlite/statement.ts"
import { type NoticeRow, SELECT_NOTICES, toNotice, toStoredNotice } from "../../rules/rows/journal-row.ts"
import type { NoticeTable } from "../../rules/tables.ts"

export interface StoredNotices extends NoticeTable {
  read(filter: NoticeFilter, limit: number): readonly Notice[]
}

export function createNoticeTable(database: DatabaseSync): StoredNotices {
  const statement = createStatementCache(database)
  const find = prepare<NoticeRow>(
    database,
    `${SELECT_NOTICES} WHERE task = (SELECT number FROM tasks WHERE id = ?) AND run = ? AND kind = ?`,
  )
  const claimedBy = prepare<NoticeRow>(
    database,
    `${SELECT_NOTICES} WHERE claimed_by_task = ? AND claimed_by_run = ? AND claimed_by_key = ? AND settled_at IS NULL`,
  )
  const insert = prepare(
    database,
    `INSERT INTO notices (task, run, kind, task_id, workspace, session, notify, at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending')
     ON CONFLICT (task, run, kind) DO UPDATE SET at = excluded.at, state = 'pending', settled_at = NULL,
       claimed_by_task = NULL, claimed_by_run = NULL, claimed_by_key = NULL`,
  )
  const save = prepare(
    database,
    `UPDATE notices SET state = ?, settled_at = ?, claimed_by_task = ?, claimed_by_run = ?, claimed_by_key = ?
     WHERE task = ? AND run = ? AND kind = ?`,
  )
  const supersede = prepare(
    database,
    `UPDATE notices SET state = 'superseded', settled_at = ?, claimed_by_task = NULL, claimed_by_run = NULL,
       claimed_by_key = NULL WHERE task = ? AND kind = ? AND settled_at IS NULL`,
  )
  const remove = prepare(database, "DELETE FROM notices WHERE task = ?")
  const detach = prepare(database, "UPDATE notices SET session = NULL WHERE task = ?")
  return {
    find({ taskId, run, kind }) {
      const row = find.get(taskId, run, kind)
      return row && toStoredNotice(row)
    },
    read(filter, limit) {
      const { sql, parameters } = toQuery(filter)
      return statement<NoticeRow>(sql)
        .all(...parameters, limit)
        .map(toNotice)
    },
    claimedBy: ({ taskId, run, key }) => claimedBy.all(taskId, run, key).map(toStoredNotice),
    insert({ number, details, course }, kind, at, notify = details.notify) {
      insert.run(number, course.run, kind, details.id, details.workspace, details.session, notify, at)
    },
    save(task, notice) {
      const claim = notice.state === "claimed" ? notice.claimedBy : null
      const settledAt = "settledAt" in notice ? notice.settledAt : null
      save.run(
        notice.state,
        settledAt,
        claim && claim.taskId,
        claim && claim.run,
        claim && claim.key,
        task,
        notice.run,
        notice.kind,
      )
    },
    supersede: (task, kind, at) => void supersede.run(at, task, kind),
    remove: (task) => void remove.run(task),
    detach: (task) => void detach.run(task),
  }
}

const UNSETTLED: ReadonlySet<NoticeState> = new Set(["pending", "claimed"])

/** Oldest first. Only what is unsettled is indexed: the query says so whenever the filter allows. */
function toQuery(filter: NoticeFilter): { sql: string; parameters: SQLInputValue[] } {
  const conditions: string[] = []
  const parameters: SQLInputValue[] = []
  if (filter.taskId !== undefined) {
    conditions.push("task = (SELECT number FROM tasks WHERE id = ?)")
    parameters.push(filter.taskId)
  }
  if (filter.session !== undefined) {
    conditions.push(filter.session === null ? "session IS NULL" : "session = ?")
    if (filter.session !== null) parameters.push(filter.session)
  }
  if (filter.workspace !== undefined) {
    conditions.push("workspace = ?")
    parameters.push(filter.workspace)
  }
  if (filter.states) {
    conditions.push(`state IN (${filter.states.map(() => "?").join(", ")})`)
    parameters.push(...filter.states)
    if (filter.states.every((state) => UNSETTLED.has(state))) conditions.push("settled_at IS NULL")
  }
  if (filter.notify) {
    conditions.push(`notify IN (${filter.notify.map(() => "?").join(", ")})`)
    parameters.push(...filter.notify)
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : ""
  return { sql: `${SELECT_NOTICES} ${where} ORDER BY at, task, run ${LIMIT}`, parameters }
}
