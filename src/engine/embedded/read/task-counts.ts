import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import type { Clock } from "../../../base/clock.ts"
import type { RunStatus } from "../../../task/lifecycle.ts"
import type { CountFilter, StatusCounts } from "../../../task/store.ts"
import { toCounts } from "../../rules/status-counts.ts"
import { createStatementCache } from "../sqlite/statement.ts"
import { toConditions } from "./task-query.ts"

export interface TaskCounts {
  byStatus(filter: CountFilter): StatusCounts
  queueAgeMs(filter: CountFilter): number | undefined
}

export function createTaskCounts(database: DatabaseSync, clock: Clock): TaskCounts {
  const statement = createStatementCache(database)

  function toWhere(filter: CountFilter): { readonly sql: string; readonly parameters: readonly SQLInputValue[] } {
    const conditions = toConditions(filter)
    return {
      sql: conditions.map(({ sql }) => sql).join(" AND ") || "TRUE",
      parameters: conditions.flatMap(({ values }) => values),
    }
  }

  return {
    byStatus(filter) {
      const { sql, parameters } = toWhere(filter)
      const text = `SELECT status, count(*) AS count FROM tasks INDEXED BY tasks_by_status WHERE ${sql} GROUP BY status`
      return toCounts(statement<{ status: RunStatus; count: number }>(text).all(...parameters))
    },
    queueAgeMs(filter) {
      const { sql, parameters } = toWhere(filter)
      const now = clock.now()
      const text = `SELECT min(max(queued_at, available_at)) AS since FROM tasks INDEXED BY tasks_queue
        WHERE status = 'queued' AND (available_at <= queued_at OR available_at <= ?) AND ${sql}`
      const since = statement<{ since: number | null }>(text).get(now, ...parameters)?.since ?? null
      return since === null ? undefined : Math.max(0, now - since)
    },
  }
}
