import type { SQLInputValue, DatabaseSync } from "node:sqlite"
import { RUN_STATUSES, type RunStatus } from "../../../task/lifecycle.ts"
import type { WorkspaceId } from "../../../task/id.ts"
import type { AskingStep, TaskSummary } from "../../../task/record.ts"
import type { TaskFilter, Page, PageRequest } from "../../../task/store.ts"
import { createStatementCache, LIMIT, prepare } from "../sqlite/statement.ts"
import { SUMMARY_COLUMNS, type SummaryRow, toTaskSummary } from "../../rules/rows/task-row.ts"
import { parseCursor, type Position, requirePageLimit, toCursor } from "../../rules/cursor.ts"

/** One query over one index. A filter may need several, whose answers are merged. */
export interface TaskQuery {
  /** Which index to walk: chosen here, because SQLite cannot know how many tasks a session or a status has. */
  readonly from: string
  readonly where: string
  readonly parameters: readonly SQLInputValue[]
}

interface Condition {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/** The narrowest index first. */
const INDEXES: readonly (readonly [keyof TaskFilter, string])[] = [
  ["askedBy", "tasks_by_asking_step"],
  ["inputHeldBy", "tasks_by_input_holder"],
  ["group", "tasks_by_group"],
  ["batch", "tasks_by_batch"],
  ["parentTask", "tasks_by_parent"],
]

/** The statuses of a task that a worker holds: few at a time, however many there are. */
const CLAIMED: readonly RunStatus[] = ["running", "stopping"]

export function toQueries(
  filter: TaskFilter,
  workspacesOf: (status: RunStatus) => readonly WorkspaceId[],
): readonly TaskQuery[] {
  const index = toIndex(filter)
  if (index) return [toQuery(index, toConditions(filter))]
  const { workspace, statuses, worker, consumedBefore } = filter
  if (consumedBefore !== undefined)
    return [false, true].flatMap((isStripped) => toQueries({ ...filter, isStripped }, workspacesOf))
  if (worker !== undefined) return toStatusQueries(filter, statuses ?? CLAIMED)
  if (workspace === undefined && !statuses) return [toQuery(undefined, toConditions(filter))]
  return (statuses ?? RUN_STATUSES).flatMap((status) =>
    (workspace === undefined ? workspacesOf(status) : [workspace]).flatMap((one) =>
      toStatusQueries({ ...filter, workspace: one }, [status]),
    ),
  )
}

function toStatusQueries(filter: TaskFilter, statuses: readonly RunStatus[]): readonly TaskQuery[] {
  const { statuses: _, ...rest } = filter
  const others = toConditions(rest)
  return statuses.map((status) => toQuery("tasks_by_status", [{ sql: "status = ?", values: [status] }, ...others]))
}

function toIndex(filter: TaskFilter): string | undefined {
  for (const [name, index] of INDEXES) if (filter[name] !== undefined) return index
  if (typeof filter.session === "string") return "tasks_by_session"
  if (filter.idempotencyKey !== undefined && filter.workspace !== undefined) return "tasks_by_idempotency_key"
  if (filter.consumedBefore === undefined) return undefined
  if (filter.isStripped === false) return "tasks_to_strip"
  if (filter.session === null) return "tasks_to_remove"
  return filter.isStripped ? "tasks_stripped" : undefined
}

function toQuery(index: string | undefined, conditions: readonly Condition[]): TaskQuery {
  return {
    from: index === undefined ? "tasks NOT INDEXED" : `tasks INDEXED BY ${index}`,
    where: conditions.map(({ sql }) => sql).join(" AND ") || "TRUE",
    parameters: conditions.flatMap(({ values }) => values),
  }
}

export function toConditions(filter: TaskFilter): readonly Condition[] {
  return [
    equal("workspace", filter.workspace),
    equal("session", filter.session),
    among("status", filter.statuses),
    among("kind", filter.kinds),
    equal("plugin", filter.plugin),
    equal("tool", filter.tool),
    equal("parent_task", filter.parentTask),
    equal("group_id", filter.group),
    equal("batch", filter.batch),
    equal("idempotency_key", filter.idempotencyKey),
    filter.askedBy && askedBy(filter.askedBy),
    among("lifetime", filter.lifetimes),
    equal("worker", filter.worker),
    equal("input_held_by", filter.inputHeldBy),
    filter.consumedBefore === undefined
      ? undefined
      : { sql: "used_at IS NOT NULL AND used_at < ?", values: [filter.consumedBefore] },
    filter.endedAfter === undefined ? undefined : { sql: "ended_at > ?", values: [filter.endedAfter] },
    flag(filter.isConsumed, "has_unused_result = 0", "has_unused_result = 1"),
    flag(filter.isStripped, "stripped_at IS NOT NULL", "stripped_at IS NULL"),
  ].filter((condition) => condition !== undefined)
}

function askedBy({ taskId, run, key }: AskingStep): Condition {
  return { sql: "asked_by_task = ? AND asked_by_run = ? AND asked_by_key = ?", values: [taskId, run, key] }
}

function equal(column: string, value: string | null | undefined): Condition | undefined {
  if (value === undefined) return undefined
  return value === null ? { sql: `${column} IS NULL`, values: [] } : { sql: `${column} = ?`, values: [value] }
}

/** Among no values is nothing, as nothing equals NULL: of an empty list SQLite may find no plan with the index that is named. */
function among(column: string, values: readonly string[] | undefined): Condition | undefined {
  if (!values) return undefined
  const placeholders = values.map(() => "?").join(", ") || "NULL"
  return { sql: `${column} IN (${placeholders})`, values }
}

function flag(value: boolean | undefined, whenTrue: string, whenFalse: string): Condition | undefined {
  return value === undefined ? undefined : { sql: value ? whenTrue : whenFalse, values: [] }
}

interface TaskList {
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
