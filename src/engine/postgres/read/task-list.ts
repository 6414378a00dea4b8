import type { TaskStore } from "../../../task/store.ts"
import { parseCursor, requirePageLimit, toCursor } from "../../rules/cursor.ts"
import { toCounts } from "../../rules/rows/status-counts.ts"
import { SUMMARY_COLUMNS, type SummaryRow, toTaskSummary } from "../../rules/rows/task-row.ts"
import type { Query } from "../connection/database.ts"
import { createNaming } from "../connection/connection.ts"
import { toPageLimit } from "./conditions.ts"
import { toCountQuery, toTaskConditions, toTaskQuery } from "./task-query.ts"
import type { Clock } from "../../../base/clock.ts"
import type { RunStatus } from "../../../task/lifecycle.ts"

type ListRow = SummaryRow & { readonly at: number }

/**
 * How many lists get named statements. Programs ask for few kinds of lists again and again, and half of the cost of a
 * list is its plan.
 */
const MOST_NAMES = 200

/** Without a clock, the server's time counts. */
export function createListReads(
  query: Query,
  clock: Clock | undefined,
): Pick<TaskStore, "tasks" | "countTasks" | "countByStatus" | "queueAgeMs"> {
  const statementOf = createNaming(MOST_NAMES)
  return {
    async tasks(filter, { limit, cursor }) {
      requirePageLimit(limit, "tasks")
      const after = cursor === undefined ? undefined : parseCursor(cursor)
      const { text, values } = toTaskQuery(filter, after, toPageLimit(limit))
      const order = filter.consumedBefore === undefined ? "number DESC" : "at, number"
      const rows = await query<ListRow>(
        statementOf(`SELECT at, ${SUMMARY_COLUMNS} FROM (${text}) places JOIN tasks USING (number) ORDER BY ${order}`),
        values,
      )
      const items = rows.slice(0, limit).map(toTaskSummary)
      const last = rows[limit - 1]
      return rows.length > limit && last ? { items, cursor: toCursor(last) } : { items }
    },
    async countTasks(filter) {
      const { text, values } = toCountQuery(filter)
      const [row] = await query<{ count: number }>(text, values)
      return row?.count ?? 0
    },
    async countByStatus(filter) {
      const conditions = toTaskConditions(filter, ["workspace"])
      return toCounts(
        await query<{ status: RunStatus; count: number }>(
          `SELECT status, count(*) AS count FROM tasks${conditions.where()} GROUP BY status`,
          conditions.values,
        ),
      )
    },
    async queueAgeMs(filter) {
      const conditions = toTaskConditions({ ...filter, statuses: ["queued"] }, ["workspace"])
      const now = `coalesce(${conditions.bind(clock?.now() ?? null)}::bigint, floor(extract(epoch FROM now()) * 1000)::bigint)`
      conditions.demand(`(available_at <= queued_at OR available_at <= ${now})`)
      const [row] = await query<{ age: number | null }>(
        `SELECT ${now} - min(greatest(queued_at, available_at)) AS age FROM tasks${conditions.where()}`,
        conditions.values,
      )
      const age = row?.age ?? null
      return age === null ? undefined : Math.max(0, age)
    },
  }
}
