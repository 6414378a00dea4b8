import type { TaskStore } from "../../../task/store.ts"
import { toLease } from "../../rules/hold-lease.ts"
import { type LeaseRow, toStoredLease } from "../../rules/rows/lease-row.ts"
import type { Query } from "../connection/database.ts"
import type { JudgeLease } from "../judge-lease.ts"
import { createConditions, demandPrefix } from "./conditions.ts"

/** By the server's clock. Before the server was started nobody could renew. */
export const IS_SILENT =
  "extract(epoch FROM clock_timestamp() - greatest(renewed_at, pg_postmaster_start_time())) * 1000 >= ttl_ms"

export function createLeaseReads(query: Query, judgeLease: JudgeLease): Pick<TaskStore, "leases"> {
  return {
    async leases(keyPrefix) {
      const conditions = createConditions()
      demandPrefix(conditions, "key", keyPrefix)
      const rows = await query<LeaseRow & { is_silent: boolean }>(
        `SELECT key, holder, fence, ttl_ms, renewals, data, ${IS_SILENT} AS is_silent
         FROM leases${conditions.where()} ORDER BY key`,
        conditions.values,
      )
      return rows.map((row) => {
        const lease = toStoredLease(row)
        return toLease(lease, judgeLease(lease, row.is_silent))
      })
    },
  }
}
