import type { SQLInputValue } from "node:sqlite"
import { RUN_STATUSES } from "../../../task/lifecycle.ts"
import type { AskingStep } from "../../../task/record.ts"
import type { TaskFilter } from "../../../task/store.ts"

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
  ["worker", "tasks_by_worker"],
  ["inputHeldBy", "tasks_by_input_holder"],
  ["group", "tasks_by_group"],
  ["batch", "tasks_by_batch"],
  ["parentTask", "tasks_by_parent"],
]

export function toQueries(filter: TaskFilter, workspaces: () => readonly string[]): readonly TaskQuery[] {
  const index = toIndex(filter)
  if (index) return [toQuery(index, toConditions(filter))]
  if (filter.workspace === undefined && !filter.statuses) return [toQuery(undefined, toConditions(filter))]
  const { workspace, statuses, ...rest } = filter
  const others = toConditions(rest)
  return (workspace === undefined ? workspaces() : [workspace]).flatMap((one) =>
    (statuses ?? RUN_STATUSES).map((status) =>
      toQuery("tasks_by_workspace", [
        { sql: "workspace = ?", values: [one] },
        { sql: "status = ?", values: [status] },
        ...others,
      ]),
    ),
  )
}

function toIndex(filter: TaskFilter): string | undefined {
  for (const [name, index] of INDEXES) if (filter[name] !== undefined) return index
  if (typeof filter.session === "string") return "tasks_by_session"
  if (filter.idempotencyKey !== undefined && filter.workspace !== undefined) return "tasks_by_idempotency_key"
  if (filter.consumedBefore === undefined) return undefined
  if (filter.isStripped === false) return "tasks_to_strip"
  return filter.session === null ? "tasks_to_remove" : "tasks_by_use"
}

function toQuery(index: string | undefined, conditions: readonly Condition[]): TaskQuery {
  return {
    from: index === undefined ? "tasks NOT INDEXED" : `tasks INDEXED BY ${index}`,
    where: conditions.map(({ sql }) => sql).join(" AND ") || "TRUE",
    parameters: conditions.flatMap(({ values }) => values),
  }
}

function toConditions(filter: TaskFilter): readonly Condition[] {
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

function among(column: string, values: readonly string[] | undefined): Condition | undefined {
  if (!values) return undefined
  const placeholders = values.map(() => "?").join(", ")
  return { sql: `${column} IN (${placeholders})`, values }
}

function flag(value: boolean | undefined, whenTrue: string, whenFalse: string): Condition | undefined {
  return value === undefined ? undefined : { sql: value ? whenTrue : whenFalse, values: [] }
}
