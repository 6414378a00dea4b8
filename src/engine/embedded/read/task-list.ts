import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import type { WorkspaceId } from "../../../task/id.ts"
import type { TaskSummary } from "../../../task/record.ts"
import type { Page, PageRequest, TaskFilter } from "../../../task/store.ts"
import { createStatementCache, LIMIT, prepare } from "../sqlite/statement.ts"
import { SUMMARY_COLUMNS, type SummaryRow, toTaskSummary } from "../../rules/rows/task-row.ts"
import { parseCursor, type Position, requirePageLimit, toCursor } from "../../rules/cursor.ts"
import { type TaskQuery, toQueries } from "./task-query.ts"

export interface TaskList {
  page(filter: TaskFilter, request: PageRequest): Page<TaskSummary>
  count(filter: TaskFilter): number
}

export function createTaskList(database: DatabaseSync): TaskList {
  const statement = createStatementCache(database)
  const summary = prepare<SummaryRow>(database, `SELECT ${SUMMARY_COLUMNS} FROM tasks WHERE number = ?`)
  /** Jumps from one workspace to the next in the index instead of walking through all tasks of that status. */
  const workspacesOf = prepare<{ workspace: WorkspaceId }>(
    database,
    `WITH RECURSIVE known (workspace) AS (
       SELECT min(workspace) FROM tasks WHERE status = ?1
       UNION ALL SELECT (SELECT min(workspace) FROM tasks WHERE status = ?1 AND workspace > known.workspace) FROM known
       WHERE known.workspace IS NOT NULL)
     SELECT workspace FROM known WHERE workspace IS NOT NULL`,
  )

  function queriesOf(filter: TaskFilter): readonly TaskQuery[] {
    return toQueries(filter, (status) => workspacesOf.all(status).map(({ workspace }) => workspace))
  }

  function positions(query: TaskQuery, isByUse: boolean, after: Position | undefined, limit: number): Position[] {
    const order = isByUse ? "used_at, number" : "number DESC"
    const parameters: SQLInputValue[] = [...query.parameters]
    let where = query.where
    if (after) {
      where += isByUse ? " AND (used_at, number) > (?, ?)" : " AND number < ?"
      parameters.push(...(isByUse ? [after.at, after.number] : [after.number]))
    }
    const sql = `SELECT ${isByUse ? "used_at" : "0"} AS at, number FROM ${query.from} WHERE ${where} ORDER BY ${order} ${LIMIT}`
    return statement<Position>(sql).all(...parameters, limit)
  }

  return {
    page(filter, { limit, cursor }) {
      requirePageLimit(limit, "tasks")
      const isByUse = filter.consumedBefore !== undefined
      const after = cursor === undefined ? undefined : parseCursor(cursor)
      const found = queriesOf(filter).flatMap((query) => positions(query, isByUse, after, limit + 1))
      found.sort((one, other) => one.at - other.at || (isByUse ? one.number - other.number : other.number - one.number))
      const shown = found.slice(0, limit)
      const items = shown.flatMap(({ number }) => {
        const row = summary.get(number)
        return row ? [toTaskSummary(row)] : []
      })
      const last = shown.at(-1)
      return found.length > limit && last ? { items, cursor: toCursor(last) } : { items }
    },
    count(filter) {
      return queriesOf(filter).reduce((sum, { from, where, parameters }) => {
        const sql = `SELECT count(*) AS count FROM ${from} WHERE ${where}`
        return sum + (statement<{ count: number }>(sql).get(...parameters)?.count ?? 0)
      }, 0)
    },
  }
}
