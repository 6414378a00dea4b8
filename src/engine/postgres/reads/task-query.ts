import { RUN_STATUSES, type RunStatus } from "../../../task/lifecycle.ts"
import { TASK_KINDS } from "../../../task/record.ts"
import type { TaskFilter } from "../../../task/store.ts"
import type { Position } from "../../rules/cursor.ts"
import { type Conditions, createConditions, toPlace } from "./conditions.ts"

/** A statement that gives places of tasks in the order of the list. */
export interface TaskQuery {
  readonly text: string
  readonly values: readonly unknown[]
}

/**
 * Which index is walked is said here and not left to the server: it cannot know that the tasks of a group, or the failed
 * ones, are none of the newest million. Therefore `-number`: newest first by number itself is an order that the primary key
 * has, too, and walking through all tasks always looks cheap when only few are wanted.
 */
export function toTaskQuery(filter: TaskFilter, after: Position | undefined, limit: number | null): TaskQuery {
  if (filter.consumedBefore !== undefined) return toQueryByUse(filter, after, limit)
  const narrow = toNarrow(filter)
  if (narrow) return toQueryByIndex(filter, narrow, after, limit)
  if (typeof filter.session === "string") return toQueryByKeys(filter, "session", filter.session, after, limit)
  if (filter.workspace !== undefined) return toQueryByKeys(filter, "workspace", filter.workspace, after, limit)
  if (filter.statuses) return toQueryByKeys(filter, "workspace", undefined, after, limit)
  const conditions = toConditions(filter, [])
  if (after) conditions.demand(`number < ${conditions.bind(after.number)}`)
  const end = `ORDER BY number DESC LIMIT ${conditions.bind(limit)}`
  return { text: `SELECT 0 AS at, number FROM tasks${conditions.where()} ${end}`, values: conditions.values }
}

export function toCountQuery(filter: TaskFilter): TaskQuery {
  const conditions = toConditions(filter, EQUALS)
  return { text: `SELECT count(*) AS count FROM tasks${conditions.where()}`, values: conditions.values }
}

type EqualPart = (typeof EQUALS)[number]
/** Parts of a filter that name the value of one column. */
const EQUALS = [
  "workspace",
  "session",
  "parentTask",
  "group",
  "batch",
  "idempotencyKey",
  "worker",
  "inputHeldBy",
  "askedBy",
] as const
/** Those with an index of their own that few tasks share. The narrowest first. */
const NARROW = [
  "askedBy",
  "inputHeldBy",
  "worker",
  "group",
  "batch",
  "parentTask",
] as const satisfies readonly EqualPart[]

function toNarrow(filter: TaskFilter): readonly EqualPart[] | undefined {
  for (const part of NARROW) if (filter[part] !== undefined) return [part]
  if (filter.idempotencyKey !== undefined && filter.workspace !== undefined) return ["workspace", "idempotencyKey"]
  const isClaimed = filter.statuses?.every((status) => CLAIMED.has(status)) === true
  return isClaimed && filter.workspace === undefined && typeof filter.session !== "string" ? [] : undefined
}

/** The statuses of a task that a worker holds: few at a time, however many there are. */
const CLAIMED: ReadonlySet<RunStatus> = new Set(["running", "stopping"])

function toQueryByIndex(
  filter: TaskFilter,
  indexed: readonly EqualPart[],
  after: Position | undefined,
  limit: number | null,
): TaskQuery {
  const conditions = toConditions(filter, indexed)
  if (indexed.length === 0) conditions.demand("worker IS NOT NULL")
  if (after) conditions.demand(`-number > -${conditions.bind(after.number)}::bigint`)
  const end = `ORDER BY -number LIMIT ${conditions.bind(limit)}`
  return { text: `SELECT 0 AS at, number FROM tasks${conditions.where()} ${end}`, values: conditions.values }
}

/** One walk for each status and kind, in an index that has them before the number; what they find is merged. */
function toQueryByKeys(
  filter: TaskFilter,
  column: "session" | "workspace",
  value: string | undefined,
  after: Position | undefined,
  limit: number | null,
): TaskQuery {
  const { statuses = RUN_STATUSES, kinds = TASK_KINDS, ...rest } = filter
  const conditions = toConditions({ ...rest, [column]: undefined }, [])
  for (const part of [column, "status", "kind"]) conditions.demand(`${part} = keys.${part}`)
  if (after) conditions.demand(`-number > -${conditions.bind(after.number)}::bigint`)
  const most = conditions.bind(limit)
  const scopes = value === undefined ? ALL_WORKSPACES : `SELECT ${conditions.bind(value)}::text AS ${column}`
  const keys = `(${scopes}) scopes CROSS JOIN unnest(${conditions.bind([...new Set(statuses)])}::text[]) AS status
    CROSS JOIN unnest(${conditions.bind([...new Set(kinds)])}::text[]) AS kind`
  const text = `SELECT 0 AS at, number FROM (SELECT ${column}, status, kind FROM ${keys}) keys CROSS JOIN LATERAL (
      SELECT number FROM tasks${conditions.where()} ORDER BY -number LIMIT ${most}) found
    ORDER BY -number LIMIT ${most}`
  return { text, values: conditions.values }
}

/** Jumps from one workspace to the next in the index. */
const ALL_WORKSPACES = `WITH RECURSIVE known (workspace) AS (
    SELECT min(workspace) FROM tasks
    UNION ALL SELECT (SELECT min(workspace) FROM tasks WHERE workspace > known.workspace) FROM known
    WHERE known.workspace IS NOT NULL)
  SELECT workspace FROM known WHERE workspace IS NOT NULL`

/** The longest consumed first. Stripped tasks and others have an index each, and so have those that no session keeps. */
function toQueryByUse(filter: TaskFilter, after: Position | undefined, limit: number | null): TaskQuery {
  const conditions = toConditions(filter, [])
  if (after)
    conditions.demand(
      `(used_at, number) > (${conditions.bind(after.at)}::bigint, ${conditions.bind(after.number)}::bigint)`,
    )
  const most = conditions.bind(limit)
  const isOneIndex = filter.isStripped !== undefined || filter.session === null
  const parts = isOneIndex ? [""] : [" AND stripped_at IS NULL", " AND stripped_at IS NOT NULL"]
  const walks = parts.map((part) => {
    const where = `${conditions.where()}${part}`
    return `(SELECT used_at AS at, number FROM tasks${where} ORDER BY used_at, number LIMIT ${most})`
  })
  const text = `SELECT at, number FROM (${walks.join(" UNION ALL ")}) found ORDER BY at, number LIMIT ${most}`
  return { text, values: conditions.values }
}

/** The parts that are `indexed` are found by them; the others are only looked at. */
function toConditions(filter: TaskFilter, indexed: readonly EqualPart[]): Conditions {
  const conditions = createConditions()
  for (const part of EQUALS) {
    const way = indexed.includes(part) ? conditions.equal : conditions.match
    if (part !== "askedBy") way(COLUMNS[part], filter[part])
    else {
      way("asked_by_task", filter.askedBy?.taskId)
      way("asked_by_run", filter.askedBy?.run)
      way("asked_by_key", filter.askedBy?.key)
    }
  }
  conditions.match("plugin", filter.plugin)
  conditions.match("tool", filter.tool)
  conditions.among("status", filter.statuses)
  conditions.among("kind", filter.kinds)
  conditions.among("lifetime", filter.lifetimes)
  if (filter.consumedBefore !== undefined)
    conditions.demand(`used_at IS NOT NULL AND used_at < ${conditions.bind(toPlace(Math.ceil(filter.consumedBefore)))}`)
  if (filter.isConsumed !== undefined) conditions.demand(`has_unused_result = ${filter.isConsumed ? 0 : 1}`)
  if (filter.isStripped !== undefined) conditions.demand(`stripped_at IS ${filter.isStripped ? "NOT NULL" : "NULL"}`)
  return conditions
}

const COLUMNS: Readonly<Record<Exclude<EqualPart, "askedBy">, string>> = {
  workspace: "workspace",
  session: "session",
  parentTask: "parent_task",
  group: "group_id",
  batch: "batch",
  idempotencyKey: "idempotency_key",
  worker: "worker",
  inputHeldBy: "input_held_by",
}
