import { RUN_STATUSES, type RunStatus } from "../../../task/lifecycle.ts"
import type { WorkspaceId } from "../../../task/id.ts"
import type { AskingStep } from "../../../task/record.ts"
import type { TaskFilter } from "../../../task/store.ts"
import { among, type Condition, equal, flag, given, toWhere, type Where } from "../sqlite/condition.ts"

/** One query over one index. A filter may need several, whose answers are merged. */
export interface TaskQuery extends Where {
  /** Which index to walk: chosen here, because SQLite cannot know how many tasks a session or a status has. */
  readonly from: string
}

/** The narrowest index first. */
const INDEXES: readonly (readonly [keyof TaskFilter, string])[] = [
  ["askedBy", "tasks_by_asking_step"],
  ["inputHeldBy", "tasks_by_input_holder"],
  ["group", "tasks_by_group"],
  ["batch", "tasks_by_batch"],
  ["parentTask", "tasks_by_parent"],
]

/** The statuses of tasks that a worker runs: few tasks have them at a time, however many tasks there are. */
const CLAIMED: readonly RunStatus[] = ["running", "stopping"]

export function toQueries(
  filter: TaskFilter,
  workspacesOf: (status: RunStatus) => readonly WorkspaceId[],
): readonly TaskQuery[] {
  const index = toIndex(filter)
  if (index) return [toQuery(index, toConditions(filter))]
  if (isOfEnds(filter)) return [toQuery("tasks_by_end", [...toConditions(filter), IS_WORK])]
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

/** The ends of turns are not indexed: few ask for them, and every turn would write one more page. */
const IS_WORK: Condition = { sql: "kind <> 'turn'", values: [] }

/** True if the tasks are found by the time they ended. */
function isOfEnds({ workspace, endedAfter, kinds }: TaskFilter): boolean {
  return workspace !== undefined && endedAfter !== undefined && kinds !== undefined && !kinds.includes("turn")
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

function toQuery(index: string | undefined, conditions: readonly (Condition | undefined)[]): TaskQuery {
  return { from: index === undefined ? "tasks NOT INDEXED" : `tasks INDEXED BY ${index}`, ...toWhere(conditions) }
}

export function toConditions(filter: TaskFilter): readonly (Condition | undefined)[] {
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
    given("used_at IS NOT NULL AND used_at < ?", filter.consumedBefore),
    given("ended_at > ?", filter.endedAfter),
    flag(filter.isConsumed, "has_unused_result = 0", "has_unused_result = 1"),
    flag(filter.isStripped, "stripped_at IS NOT NULL", "stripped_at IS NULL"),
  ]
}

function askedBy({ taskId, run, key }: AskingStep): Condition {
  return { sql: "asked_by_task = ? AND asked_by_run = ? AND asked_by_key = ?", values: [taskId, run, key] }
}
