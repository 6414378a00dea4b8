import type { Reads } from "../read/reads.ts"
import { equal, flag, given, toWhere } from "../sqlite/condition.ts"
import type { Prepare } from "../sqlite/statement.ts"
import { toWaitRecord, type WaitRow } from "../../rules/rows/wait-row.ts"
import type { WaitTable } from "../../rules/tables.ts"

export type StoredWaits = WaitTable & { readonly read: Reads["waits"] }

export function createWaitTable(prepare: Prepare): StoredWaits {
  const find = prepare<WaitRow>("SELECT * FROM waits WHERE id = ?")
  const open = prepare(`INSERT INTO waits
       (id, task, task_id, workspace, run, opened_at, state, reason, expires_at, on_expiry, question)
     VALUES (?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?)`)
  const answer = prepare(
    "UPDATE waits SET state = 'answered', answer = ?, answered_by = ?, answered_at = ? WHERE id = ?",
  )
  const withdraw = prepare("UPDATE waits SET state = 'withdrawn' WHERE id = ?")
  const remove = prepare("DELETE FROM waits WHERE task = ?")
  return {
    find(id) {
      const row = find.get(id)
      return row && toWaitRecord(row)
    },
    read({ taskId, workspace, isOpen, expiresBy }) {
      const { where, parameters } = toWhere([
        given("task = (SELECT number FROM tasks WHERE id = ?)", taskId),
        equal("workspace", workspace),
        flag(isOpen, "state = 'open'", "state <> 'open'"),
        given("expires_at <= ?", expiresBy),
      ])
      return prepare<WaitRow>(`SELECT * FROM waits WHERE ${where} ORDER BY opened_at, rowid`)
        .all(...parameters)
        .map(toWaitRecord)
    },
    open({ number, details, course }, { id, reason, expiresAt, onExpiry, question }, at) {
      const texts = [JSON.stringify(onExpiry), JSON.stringify(question)] as const
      open.run(id, number, details.id, details.workspace, course.run, at, reason, expiresAt, ...texts)
    },
    answer: (id, value, answeredBy, at) => void answer.run(JSON.stringify(value), answeredBy, at, id),
    withdraw: (id) => void withdraw.run(id),
    remove: (task) => void remove.run(task),
  }
}
