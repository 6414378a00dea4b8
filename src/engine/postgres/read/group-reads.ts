import type { GroupArrival, GroupState } from "../../../task/group.ts"
import type { GroupFilter, TaskStore } from "../../../task/store.ts"
import { type GroupRow, toGroupRecord } from "../../rules/rows/group-row.ts"
import type { Query } from "../connection/database.ts"
import { type Conditions, createConditions, demandPrefix, toLimit } from "./conditions.ts"

type ReadRow = GroupRow & { readonly arrivals: readonly GroupArrival[] | null }

/** Reads groups and their arrivals in one statement, so that both are of the same moment. */
const SELECT = `SELECT groups.*, (
    SELECT json_agg(json_build_object('taskId', task_id, 'run', run, 'status', status) ORDER BY task)
    FROM arrivals WHERE group_id = groups.id) AS arrivals FROM groups`

const GROUP = { name: "group", text: `${SELECT} WHERE id = $1` }

const UNFINISHED: ReadonlySet<GroupState> = new Set(["open", "sealed"])

export function createGroupReads(query: Query): Pick<TaskStore, "group" | "groups"> {
  return {
    async group(id) {
      const [row] = await query<ReadRow>(GROUP, [id])
      return row && toRecord(row)
    },
    async groups(filter, limit) {
      const conditions = toConditions(filter)
      const end = `ORDER BY created_at DESC, id LIMIT ${conditions.bind(toLimit(limit))}`
      return (await query<ReadRow>(`${SELECT}${conditions.where()} ${end}`, conditions.values)).map(toRecord)
    },
  }
}

const toRecord = (row: ReadRow) => toGroupRecord(row, row.arrivals ?? [])

/** Unfinished groups and gated groups have indexes of their own: the query repeats an index's condition to use it. */
function toConditions(filter: GroupFilter): Conditions {
  const { workspace, session, states, name, idPrefix, failFast, merge, withoutTask } = filter
  const conditions = createConditions()
  if (idPrefix !== undefined) demandPrefix(conditions, "id", idPrefix)
  conditions.equal("session", session)
  conditions.equal("workspace", workspace)
  conditions.equal("name", name)
  if (failFast !== undefined) conditions.demand(`fail_fast = ${failFast ? 1 : 0}`)
  if (merge === "human_gated") conditions.demand("merge = 'human_gated'")
  else conditions.equal("merge", merge)
  if (withoutTask !== undefined) conditions.demand(toWithoutTask(conditions.bind(withoutTask)))
  conditions.among("state", states)
  if (states?.every((state) => UNFINISHED.has(state))) conditions.demand("state IN ('open', 'sealed')")
  return conditions
}

function toWithoutTask(parameter: string): string {
  const task = `tasks.workspace = groups.workspace AND tasks.idempotency_key = ${parameter} || groups.id`
  return `member_count > 0 AND NOT EXISTS (SELECT 1 FROM tasks WHERE ${task})`
}
