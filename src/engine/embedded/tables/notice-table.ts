import type { NoticeState } from "../../../task/notice.ts"
import type { NoticeFilter } from "../../../task/store.ts"
import { type NoticeRow, SELECT_NOTICES, toNotice, toStoredNotice } from "../../rules/rows/journal-row.ts"
import type { NoticeTable } from "../../rules/tables.ts"
import type { Reads } from "../read/reads.ts"
import { among, equal, flag, given, toWhere, type Where } from "../sqlite/condition.ts"
import { LIMIT, type Prepare } from "../sqlite/statement.ts"

export type StoredNotices = NoticeTable & { readonly read: Reads["notices"] }

export function createNoticeTable(prepare: Prepare): StoredNotices {
  const find = prepare<NoticeRow>(
    `${SELECT_NOTICES} WHERE task = (SELECT number FROM tasks WHERE id = ?) AND run = ? AND kind = ?`,
  )
  const claimedBy = prepare<NoticeRow>(
    `${SELECT_NOTICES} WHERE claimed_by_task = ? AND claimed_by_run = ? AND claimed_by_key = ? AND settled_at IS NULL`,
  )
  const insert = prepare(`INSERT INTO notices (task, run, kind, task_id, workspace, session, notify, at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending')
     ON CONFLICT (task, run, kind) DO UPDATE SET at = excluded.at, state = 'pending', settled_at = NULL,
       claimed_by_task = NULL, claimed_by_run = NULL, claimed_by_key = NULL`)
  const save = prepare(`UPDATE notices
     SET state = ?, settled_at = ?, claimed_by_task = ?, claimed_by_run = ?, claimed_by_key = ? WHERE task = ? AND run = ? AND kind = ?`)
  const supersede = prepare(`UPDATE notices SET state = 'superseded', settled_at = ?,
     claimed_by_task = NULL, claimed_by_run = NULL, claimed_by_key = NULL WHERE task = ? AND kind = ? AND settled_at IS NULL`)
  const remove = prepare("DELETE FROM notices WHERE task = ?")
  const readdress = prepare("UPDATE notices SET session = ? WHERE task = ?")
  return {
    find({ taskId, run, kind }) {
      const row = find.get(taskId, run, kind)
      return row && toStoredNotice(row)
    },
    read(filter, limit) {
      const { where, parameters } = toConditions(filter)
      const sql = `${SELECT_NOTICES} WHERE ${where} ORDER BY at, task, run ${LIMIT}`
      return prepare<NoticeRow>(sql)
        .all(...parameters, limit)
        .map(toNotice)
    },
    claimedBy: ({ taskId, run, key }) => claimedBy.all(taskId, run, key).map(toStoredNotice),
    insert({ number, details, course }, kind, at, notify = details.notify) {
      insert.run(number, course.run, kind, details.id, details.workspace, details.session, notify, at)
    },
    save(task, notice) {
      const { state, run, kind } = notice
      const claim = state === "claimed" ? notice.claimedBy : NO_CLAIM
      const settledAt = "settledAt" in notice ? notice.settledAt : null
      save.run(state, settledAt, claim.taskId, claim.run, claim.key, task, run, kind)
    },
    supersede: (task, kind, at) => void supersede.run(at, task, kind),
    remove: (task) => void remove.run(task),
    readdress: (task, session) => void readdress.run(session, task),
  }
}

const UNSETTLED: ReadonlySet<NoticeState> = new Set(["pending", "claimed"])

const NO_CLAIM = { taskId: null, run: null, key: null }

/** Only unsettled notices are indexed: the query asks for unsettled ones whenever the filter allows. */
function toConditions({ taskId, session, workspace, states, notify }: NoticeFilter): Where {
  return toWhere([
    given("task = (SELECT number FROM tasks WHERE id = ?)", taskId),
    equal("session", session),
    equal("workspace", workspace),
    among("state", states),
    flag(
      states?.every((state) => UNSETTLED.has(state)),
      "settled_at IS NULL",
    ),
    among("notify", notify),
  ])
}
