import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import type { WaitFilter } from "../../../task/store.ts"
import type { WaitRecord } from "../../../task/wait.ts"
import { createStatementCache, prepare } from "../sqlite/statement.ts"
import { toWaitRecord, type WaitRow } from "../../rules/rows/wait-row.ts"
import type { WaitTable } from "../../rules/tables.ts"

export interface StoredWaits extends WaitTable {
  read(filter: WaitFilter): readonly WaitRecord[]
}

export function createWaitTable(database: DatabaseSync): StoredWaits {
  const statement = createStatementCache(database)
  const find = prepare<WaitRow>(database, "SELECT * FROM waits WHERE id = ?")
  const open = prepare(
    database,
    `INSERT INTO waits (id, task, task_id, workspace, run, opened_at, state, reason, expires_at, on_expiry, question)
     VALUES (?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?)`,
  )
  const answer = prepare(
    database,
    "UPDATE waits SET state = 'answered', answer = ?, answered_by = ?, answered_at = ? WHERE id = ?",
  )
  const withdraw = prepare(database, "UPDATE waits SET state = 'withdrawn' WHERE id = ?")
  const remove = prepare(database, "DELETE FROM waits WHERE task = ?")
  return {
    find(id) {
      const row = find.get(id)
      return row && toWaitRecord(row)
    },
    read(filter) {
      const { sql, parameters } = toQuery(filter)
      return statement<WaitRow>(sql)
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

/** Oldest first. */
function toQuery(filter: WaitFilter): { sql: string; parameters: SQLInputValue[] } {
  const conditions: string[] = []
  const parameters: SQLInputValue[] = []
  if (filter.taskId !== undefined) {
    conditions.push("task = (SELECT number FROM tasks WHERE id = ?)")
    parameters.push(filter.taskId)
  }
  if (filter.workspace !== undefined) {
    conditions.push("workspace = ?")
    parameters.push(filter.workspace)
  }
  if (filter.isOpen !== undefined) conditions.push(filter.isOpen ? "state = 'open'" : "state <> 'open'")
  if (filter.expiresBy !== undefined) {
    conditions.push("expires_at <= ?")
    parameters.push(filter.expiresBy)
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : ""
  return { sql: `SELECT * FROM waits ${where} ORDER BY opened_at, rowid`, parameters }
}
