import type { Clock } from "../../../base/clock.ts"
import type { TaskStore } from "../../../task/store.ts"
import { toLease, type LeaseRow, toStoredLease } from "../../rules/hold-lease.ts"
import type { Query } from "../connection/database.ts"
import type { JudgeLease, ServerWord } from "./judge-lease.ts"
import { NOW } from "../connection/server-time.ts"
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

/** By the server's clock, for which who owns the time has no use. */
export function createIsSilent(clock: Clock | undefined): (row: HeardLeaseRow) => boolean {
  return ({ server_now, renewed_at, ttl_ms }) => !clock && server_now - renewed_at >= ttl_ms
}

export function createLeaseReads(
  query: Query,
  judgeLease: JudgeLease,
  clock: Clock | undefined,
): Pick<TaskStore, "leases"> {
  const isSilent = createIsSilent(clock)
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
        const isOver = judgeLease(lease, toServerWord(row))
        return toLease(lease, isOver, isOver || isSilent(row))
      })
    },
  }
}
