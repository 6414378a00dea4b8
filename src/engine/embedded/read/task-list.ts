import type { Clock } from "../../../base/clock.ts"
import type { TaskId, WorkspaceId } from "../../../task/id.ts"
import type { RunStatus } from "../../../task/lifecycle.ts"
import type { TaskFilter } from "../../../task/store.ts"
import { parseCursor, type Position, requirePageLimit, toCursor } from "../../rules/cursor.ts"
import { toCounts } from "../../rules/rows/status-counts.ts"
import { SUMMARY_COLUMNS, type SummaryRow, toTaskSummary } from "../../rules/rows/task-row.ts"
import { toWhere } from "../sqlite/condition.ts"
import { LIMIT, type Prepare } from "../sqlite/statement.ts"
import type { Reads } from "./reads.ts"
import { type TaskQuery, toConditions, toQueries } from "./task-query.ts"

export function createTaskList(prepare: Prepare): Pick<Reads, "tasks" | "countTasks" | "countByStatus"> {
  const summary = prepare<SummaryRow>(`SELECT ${SUMMARY_COLUMNS} FROM tasks WHERE number = ?`)
  /** Jumps from one workspace to the next in the index instead of walking through all tasks of that status. */
  const workspacesOf = prepare<{ workspace: WorkspaceId }>(`WITH RECURSIVE known (workspace) AS (
       SELECT min(workspace) FROM tasks WHERE status = ?1
       UNION ALL SELECT (SELECT min(workspace) FROM tasks WHERE status = ?1 AND workspace > known.workspace) FROM known
       WHERE known.workspace IS NOT NULL)
     SELECT workspace FROM known WHERE workspace IS NOT NULL`)

  function queriesOf(filter: TaskFilter): readonly TaskQuery[] {
    return toQueries(filter, (status) => workspacesOf.all(status).map(({ workspace }) => workspace))
  }

  function positions(query: TaskQuery, isByUse: boolean, after: Position | undefined, limit: number): Position[] {
    const [at, order, further] = isByUse
      ? ["used_at", "used_at, number", "(used_at, number) > (?, ?)"]
      : ["0", "number DESC", "number < ?"]
    const where = after ? `${query.where} AND ${further}` : query.where
    const beyond = after ? (isByUse ? [after.at, after.number] : [after.number]) : []
    const sql = `SELECT ${at} AS at, number FROM ${query.from} WHERE ${where} ORDER BY ${order} ${LIMIT}`
    return prepare<Position>(sql).all(...query.parameters, ...beyond, limit)
  }

  return {
    tasks(filter, { limit, cursor }) {
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
    countTasks(filter) {
      return queriesOf(filter).reduce((sum, { from, where, parameters }) => {
        const sql = `SELECT count(*) AS count FROM ${from} WHERE ${where}`
        return sum + (prepare<{ count: number }>(sql).get(...parameters)?.count ?? 0)
      }, 0)
    },
    countByStatus(filter) {
      const { where, parameters } = toWhere(toConditions(filter))
      const sql = `SELECT status, count(*) AS count FROM tasks INDEXED BY tasks_by_status WHERE ${where} GROUP BY status`
      return toCounts(prepare<{ status: RunStatus; count: number }>(sql).all(...parameters))
    },
  }
}

export function createTaskLookup(
  prepare: Prepare,
  clock: Clock,
): Pick<Reads, "findByPrefix" | "placeInQueue" | "queueAgeMs"> {
  const byPrefix = prepare<{ id: TaskId }>(
    `SELECT id FROM tasks WHERE id >= ?1 AND id < ?1 || char(0x10ffff) AND +workspace = ?2 ORDER BY id ${LIMIT}`,
  )
  const queued = prepare<{ priority: number; queued_at: number; number: number }>(
    "SELECT priority, queued_at, number FROM tasks WHERE id = ? AND status = 'queued'",
  )
  const ahead = prepare<{ count: number }>(`SELECT count(*) AS count FROM tasks INDEXED BY tasks_queue
     WHERE status = 'queued' AND kind <> 'turn' AND (available_at <= ?1 OR available_at <= queued_at)
     AND (priority > ?2 OR (priority = ?2 AND (queued_at, number) < (?3, ?4)))`)
  return {
    findByPrefix: (workspace, prefix, limit) => byPrefix.all(prefix, workspace, limit).map(({ id }) => id),
    placeInQueue(id) {
      const task = queued.get(id)
      return task && 1 + (ahead.get(clock.now(), task.priority, task.queued_at, task.number)?.count ?? 0)
    },
    queueAgeMs(filter) {
      const { where, parameters } = toWhere(toConditions(filter))
      const now = clock.now()
      const sql = `SELECT min(max(queued_at, available_at)) AS since FROM tasks INDEXED BY tasks_queue
        WHERE status = 'queued' AND (available_at <= queued_at OR available_at <= ?) AND ${where}`
      const since = prepare<{ since: number | null }>(sql).get(now, ...parameters)?.since ?? null
      return since === null ? undefined : Math.max(0, now - since)
    },
  }
}
