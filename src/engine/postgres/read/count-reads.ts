import type { Clock } from "../../../base/clock.ts"
import type { RunStatus } from "../../../task/lifecycle.ts"
import type { TaskStore } from "../../../task/store.ts"
import { toCounts } from "../../rules/status-counts.ts"
import type { Query } from "../connection/database.ts"
import { toTaskConditions } from "./task-conditions.ts"

/** Without a clock of its own the store goes by the server's. */
export function createCountReads(
  query: Query,
  clock: Clock | undefined,
): Pick<TaskStore, "countByStatus" | "queueAgeMs"> {
  return {
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
