import { RUN_STATUSES, type RunStatus } from "../../../task/lifecycle.ts"
import { TASK_KINDS } from "../../../task/record.ts"
import type { TaskFilter } from "../../../task/store.ts"
import type { Position } from "../../rules/cursor.ts"
import { type Conditions, createConditions, toPlace } from "./conditions.ts"

interface TaskQuery {
  /** The same for all filters with the same fields. */
  readonly text: string
  readonly values: readonly unknown[]
}

/**
 * The places of tasks in the order of their list. The index is chosen here and not by the server, which cannot know
 * that none of the newest million tasks is of a group, or failed. Hence the order by `-number`: the order by `number`
 * is that of the primary key, too, and a walk through all tasks looks cheap to the server when few are wanted.
 */
export function toTaskQuery(filter: TaskFilter, after: Position | undefined, limit: number): TaskQuery {
  if (filter.consumedBefore !== undefined) return toQueryByUse(filter, after, limit)
  const way = toWay(filter)
  if (way.by === "keys") {
    const { keys, conditions } = toKeys(filter, way)
    demandAfter(conditions, after)
    const found = `SELECT number FROM tasks${conditions.where()} ORDER BY -number LIMIT ${limit}`
    const text = `SELECT 0 AS at, number FROM ${keys} CROSS JOIN LATERAL (${found}) found ORDER BY -number LIMIT ${limit}`
    return { text, values: conditions.values }
  }
  if (way.by === "end") return toQueryByEnd(filter, after, limit)
  const conditions = toTaskConditions(filter, way.parts)
  if (way.by === "all" && after) conditions.demand(`number < ${conditions.bind(after.number)}`)
  if (way.by === "index") demandAfter(conditions, after)
  if (way.by === "index" && way.parts.length === 0) conditions.demand(IS_CLAIMED)
  const order = way.by === "all" ? "number DESC" : "-number"
  const text = `SELECT 0 AS at, number FROM tasks${conditions.where()} ORDER BY ${order} LIMIT ${limit}`
  return { text, values: conditions.values }
}

/** Counts tasks. Here the server may choose the index: it knows how many tasks have the statuses that are asked for. */
export function toCountQuery(filter: TaskFilter): TaskQuery {
  const way = toWay(filter)
  const isEverywhere = way.by === "keys" && way.value === undefined
  const conditions = toTaskConditions(filter, way.by === "keys" ? [way.column] : way.parts)
  if (way.by === "index" && way.parts.length === 0) conditions.demand(IS_CLAIMED)
  if (way.by === "end") conditions.demand(IS_WORK)
  if (isEverywhere) conditions.demand("workspace = scopes.workspace")
  const count = `SELECT count(*) AS count FROM tasks${conditions.where()}`
  if (!isEverywhere) return { text: count, values: conditions.values }
  const text = `SELECT coalesce(sum(count), 0) AS count FROM (${ALL_WORKSPACES}) scopes CROSS JOIN LATERAL (${count}) found`
  return { text, values: conditions.values }
}

/**
 * The index that finds the tasks. `index`: one that few tasks share; `end`: that of the ends of a session's tasks; `keys`:
 * the one that has status and kind before the number; `all`: that of all tasks.
 */
type Way =
  | { readonly by: "end"; readonly parts: readonly ["session"] }
  | { readonly by: "index"; readonly parts: readonly IndexedPart[] }
  | { readonly by: "keys"; readonly column: "session" | "workspace"; readonly value: string | undefined }
  | { readonly by: "all"; readonly parts: readonly [] }

/** Fields that few tasks share, the narrowest first. */
const NARROW = ["askedBy", "inputHeldBy", "worker", "group", "batch", "parentTask"] as const

/** The statuses of tasks that a worker runs: few tasks have them at a time, however many tasks there are. */
const CLAIMED: ReadonlySet<RunStatus> = new Set(["running", "stopping"])
const IS_CLAIMED = "worker IS NOT NULL"

function toWay(filter: TaskFilter): Way {
  const { workspace, session, statuses } = filter
  for (const part of NARROW) if (filter[part] !== undefined) return { by: "index", parts: [part] }
  if (filter.idempotencyKey !== undefined && workspace !== undefined)
    return { by: "index", parts: ["workspace", "idempotencyKey"] }
  if (isOfEnds(filter)) return { by: "end", parts: ["session"] }
  if (typeof session === "string") return { by: "keys", column: "session", value: session }
  if (workspace !== undefined) return { by: "keys", column: "workspace", value: workspace }
  if (statuses?.every((status) => CLAIMED.has(status))) return { by: "index", parts: [] }
  return statuses ? { by: "keys", column: "workspace", value: undefined } : { by: "all", parts: [] }
}

/** The ends of turns are not indexed: few ask for them. */
const IS_WORK = "kind <> 'turn'"

function isOfEnds({ session, endedAfter, kinds }: TaskFilter): boolean {
  return typeof session === "string" && endedAfter !== undefined && kinds !== undefined && !kinds.includes("turn")
}

/** Status and kind are checked so that the server does not choose the index that begins with session, status and kind. */
function toQueryByEnd(filter: TaskFilter, after: Position | undefined, limit: number): TaskQuery {
  const { statuses, kinds, ...rest } = filter
  const conditions = toTaskConditions(rest, ["session"])
  demandAfter(conditions, after)
  conditions.demand(IS_WORK)
  for (const [column, given] of [
    ["status", statuses],
    ["kind", kinds],
  ] as const)
    if (given) conditions.demand(`(${column} = ANY (${conditions.bind(given)}::text[])) IS TRUE`)
  return {
    text: `SELECT 0 AS at, number FROM tasks${conditions.where()} ORDER BY -number LIMIT ${limit}`,
    values: conditions.values,
  }
}

/** One walk along the index for each status and kind. The answers are merged. */
function toKeys(filter: TaskFilter, { column, value }: Extract<Way, { by: "keys" }>) {
  const { statuses = RUN_STATUSES, kinds = TASK_KINDS, [column]: _, ...rest } = filter
  const conditions = toTaskConditions(rest, [])
  for (const part of [column, "status", "kind"]) conditions.demand(`${part} = keys.${part}`)
  const scopes = value === undefined ? ALL_WORKSPACES : `SELECT ${conditions.bind(value)}::text AS ${column}`
  const keys = `(SELECT ${column}, status, kind FROM (${scopes}) scopes
    CROSS JOIN unnest(${conditions.bind([...new Set(statuses)])}::text[]) AS status
    CROSS JOIN unnest(${conditions.bind([...new Set(kinds)])}::text[]) AS kind) keys`
  return { keys, conditions }
}

/** Jumps from one workspace to the next in the index. */
const ALL_WORKSPACES = `WITH RECURSIVE known (workspace) AS (
    SELECT min(workspace) FROM tasks
    UNION ALL SELECT (SELECT min(workspace) FROM tasks WHERE workspace > known.workspace) FROM known
    WHERE known.workspace IS NOT NULL)
  SELECT workspace FROM known WHERE workspace IS NOT NULL`

function demandAfter(conditions: Conditions, after: Position | undefined): void {
  if (after) conditions.demand(`-number > -${conditions.bind(after.number)}::bigint`)
}

/** Longest consumed first. Stripped tasks, other tasks, and tasks without a session have an index each. */
function toQueryByUse(filter: TaskFilter, after: Position | undefined, limit: number): TaskQuery {
  const conditions = toTaskConditions(filter, [])
  if (after) {
    const place = `${conditions.bind(after.at)}::bigint, ${conditions.bind(after.number)}::bigint`
    conditions.demand(`(used_at, number) > (${place})`)
  }
  const isOneIndex = filter.isStripped !== undefined || filter.session === null
  const parts = isOneIndex ? [""] : [" AND stripped_at IS NULL", " AND stripped_at IS NOT NULL"]
  const walks = parts.map((part) => {
    const where = `${conditions.where()}${part}`
    return `(SELECT used_at AS at, number FROM tasks${where} ORDER BY used_at, number LIMIT ${limit})`
  })
  const text = `SELECT at, number FROM (${walks.join(" UNION ALL ")}) found ORDER BY at, number LIMIT ${limit}`
  return { text, values: conditions.values }
}

/** The columns of the filter's fields that name one value each. */
const COLUMNS = {
  workspace: "workspace",
  session: "session",
  parentTask: "parent_task",
  group: "group_id",
  batch: "batch",
  idempotencyKey: "idempotency_key",
  worker: "worker",
  inputHeldBy: "input_held_by",
  plugin: "plugin",
  tool: "tool",
} as const satisfies Partial<Record<keyof TaskFilter, string>>

/** Fields of a filter through which tasks can be found. */
type IndexedPart = keyof typeof COLUMNS | "askedBy"

/** Conditions of the tasks in the answer. The `indexed` ones choose the index; the others only filter. */
export function toTaskConditions(filter: TaskFilter, indexed: readonly IndexedPart[]): Conditions {
  const conditions = createConditions()
  const wayOf = (part: IndexedPart) => (indexed.includes(part) ? conditions.equal : conditions.match)
  for (const part of Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]) wayOf(part)(COLUMNS[part], filter[part])
  wayOf("askedBy")("asked_by_task", filter.askedBy?.taskId)
  wayOf("askedBy")("asked_by_run", filter.askedBy?.run)
  wayOf("askedBy")("asked_by_key", filter.askedBy?.key)
  conditions.among("status", filter.statuses)
  conditions.among("kind", filter.kinds)
  conditions.among("lifetime", filter.lifetimes)
  if (filter.consumedBefore !== undefined)
    conditions.demand(`used_at IS NOT NULL AND used_at < ${conditions.bind(toPlace(Math.ceil(filter.consumedBefore)))}`)
  if (filter.endedAfter !== undefined)
    conditions.demand(`ended_at > ${conditions.bind(toPlace(Math.floor(filter.endedAfter)))}`)
  if (filter.isConsumed !== undefined) conditions.demand(`has_unused_result = ${filter.isConsumed ? 0 : 1}`)
  if (filter.isStripped !== undefined) conditions.demand(`stripped_at IS ${filter.isStripped ? "NOT NULL" : "NULL"}`)
  return conditions
}
