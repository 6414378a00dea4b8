import type { JsonObject } from "../../../base/json.ts"
import type { TaskStore } from "../../../task/store.ts"
import { toLease } from "../../rules/hold-lease.ts"
import { type LeaseRow, toStoredLease } from "../../rules/rows/lease-row.ts"
import type { Query } from "../connection/database.ts"
import { createConditions, demandPrefix } from "./conditions.ts"

/** Whether the process that a lease describes lives; undefined when this host cannot say. */
export type IsHolderAlive = (data: JsonObject) => boolean | undefined

/** The server's clock decides for all: those of workers jump and differ. */
export const IS_SILENT = "extract(epoch FROM clock_timestamp() - renewed_at) * 1000 >= ttl_ms"

export function createLeaseReads(query: Query, isHolderAlive: IsHolderAlive): Pick<TaskStore, "leases"> {
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
        return toLease(lease, row.is_silent || isHolderAlive(lease.data) === false)
      })
    },
  }
}
