import type { TaskStore } from "../../../task/store.ts"
import { toLease } from "../../rules/hold-lease.ts"
import { type LeaseRow, toStoredLease } from "../../rules/rows/lease-row.ts"
import type { Query } from "../connection/database.ts"
import type { JudgeLease } from "../judge-lease.ts"
import type { ServerWord } from "../lease-silence.ts"
import { NOW } from "../load/now.ts"
import { createConditions, demandPrefix } from "./conditions.ts"

export const LEASE_COLUMNS = `key, holder, fence, ttl_ms, renewals, data, pg_postmaster_start_time()::text AS server_start,
  ${NOW} AS server_now, floor(extract(epoch FROM renewed_at) * 1000)::bigint AS renewed_at`

/** A lease, and by which clock its times are. */
export interface HeardLeaseRow extends LeaseRow {
  readonly server_start: string
  readonly server_now: number
  readonly renewed_at: number
}

export function toServerWord({ server_start, server_now, renewed_at }: HeardLeaseRow): ServerWord {
  return { serverStart: server_start, serverNowMs: server_now, renewedAtMs: renewed_at }
}

export function createLeaseReads(query: Query, judgeLease: JudgeLease): Pick<TaskStore, "leases"> {
  return {
    async leases(keyPrefix) {
      const conditions = createConditions()
      demandPrefix(conditions, "key", keyPrefix)
      const rows = await query<HeardLeaseRow>(
        `SELECT ${LEASE_COLUMNS} FROM leases${conditions.where()} ORDER BY key`,
        conditions.values,
      )
      return rows.map((row) => {
        const lease = toStoredLease(row)
        return toLease(lease, judgeLease(lease, toServerWord(row)))
      })
    },
  }
}
