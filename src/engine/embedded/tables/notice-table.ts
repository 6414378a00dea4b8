import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import type { SessionId, TaskId, WorkspaceId } from "../../../task/id.ts"
import type { Notice, NoticeKind, NoticeState } from "../../../task/notice.ts"
import type { NotifyMode } from "../../../task/record.ts"
import type { NoticeFilter } from "../../../task/store.ts"
import { createStatementCache, LIMIT, prepare } from "../statement.ts"
import type { NoticeTable } from "../../rules/tables.ts"

export interface StoredNotices extends NoticeTable {
  read(filter: NoticeFilter, limit: number): readonly Notice[]
}

interface NoticeRow {
  readonly task: number
  readonly run: number
  readonly kind: NoticeKind
  readonly task_id: TaskId
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly notify: NotifyMode
  readonly at: number
  readonly state: NoticeState
  readonly settled_at: number | null
  readonly claimed_by_task: TaskId | null
  readonly claimed_by_run: number | null
  readonly claimed_by_key: string | null
  readonly trace_id: string | null
}

/** A notice goes with its task, so what never changes about the task is read from there. */
const SELECT = "SELECT notices.*, (SELECT trace_id FROM tasks WHERE number = notices.task) AS trace_id FROM notices"

export function createNoticeTable(database: DatabaseSync): StoredNotices {
  const statement = createStatementCache(database)
  const find = prepare<NoticeRow>(
    database,
    `${SELECT} WHERE task = (SELECT number FROM tasks WHERE id = ?) AND run = ? AND kind = ?`,
  )
  const claimedBy = prepare<NoticeRow>(
    database,
    `${SELECT} WHERE claimed_by_task = ? AND claimed_by_run = ? AND claimed_by_key = ? AND settled_at IS NULL`,
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
      return row && { ...toNotice(row), task: row.task }
    },
    read(filter, limit) {
      const { sql, parameters } = toQuery(filter)
      return statement<NoticeRow>(sql)
        .all(...parameters, limit)
        .map(toNotice)
    },
    claimedBy: ({ taskId, run, key }) =>
      claimedBy.all(taskId, run, key).map((row) => ({ ...toNotice(row), task: row.task })),
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
  return { sql: `${SELECT} ${where} ORDER BY at, task, run ${LIMIT}`, parameters }
}

function toNotice(row: NoticeRow): Notice {
  const { run, kind, workspace, session, notify, at, state } = row
  const common = { taskId: row.task_id, run, kind, workspace, session, notify, at, traceId: row.trace_id }
  if (state === "pending") return { ...common, state }
  if (state !== "claimed") return { ...common, state, settledAt: row.settled_at ?? at }
  const taskId = row.claimed_by_task ?? row.task_id
  return { ...common, state, claimedBy: { taskId, run: row.claimed_by_run ?? 0, key: row.claimed_by_key ?? "" } }
}
