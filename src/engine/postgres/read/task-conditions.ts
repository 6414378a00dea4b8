import type { TaskFilter } from "../../../task/store.ts"
import { type Conditions, createConditions, toPlace } from "./conditions.ts"

/** The columns of the parts of a filter that name one value each. */
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

/** Parts of a filter through which tasks can be found. */
export type IndexedPart = keyof typeof COLUMNS | "askedBy"

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
