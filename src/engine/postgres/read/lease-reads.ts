import type { Clock } from "../../../base/clock.ts"
import type { JsonValue } from "../../../base/json.ts"
import type { WorkerId } from "../../../task/id.ts"
import type { TaskStore } from "../../../task/store.ts"
import { ANNOUNCEMENTS, WORKER_LEASE_PREFIX } from "../../../task/worker.ts"
import { toLease, type LeaseRow, toStoredLease } from "../../rules/hold-lease.ts"
import type { Query } from "../connection/database.ts"
import type { JudgeLease, ServerTimes } from "./judge-lease.ts"
import { NOW } from "../connection/server-time.ts"
import { createConditions, demandPrefix } from "./conditions.ts"

export const LEASE_COLUMNS = `key, holder, fence, ttl_ms, renewals, data, pg_postmaster_start_time()::text AS server_start,
  ${NOW} AS server_now, floor(extract(epoch FROM renewed_at) * 1000)::bigint AS renewed_at`

/** A lease, with the start and the time of the server by whose clock it was renewed. */
export interface HeardLeaseRow extends LeaseRow {
  readonly server_start: string
  readonly server_now: number
  readonly renewed_at: number
}

export function toServerWord({ server_start, server_now, renewed_at }: HeardLeaseRow): ServerTimes {
  return { serverStart: server_start, serverNowMs: server_now, renewedAtMs: renewed_at }
}

type WorkerRow = HeardLeaseRow & { readonly announcement: string | null; readonly running: number }

export function createLeaseReads(
  query: Query,
  judgeLease: JudgeLease,
  clock: Clock | undefined,
): Pick<TaskStore, "leases" | "workers"> {
  /** By the server's clock. Always false if a clock is given. */
  const isSilent = ({ server_now, renewed_at, ttl_ms }: HeardLeaseRow): boolean =>
    !clock && server_now - renewed_at >= ttl_ms

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
    /**
     * Leaves a silent worker out at once, even if the server or its clock is to blame for the silence. Callers that
     * decide by this list read the leases, too.
     */
    async workers() {
      const conditions = createConditions()
      demandPrefix(conditions, "key", WORKER_LEASE_PREFIX)
      // If another worker holds the lease, the worker named in the key is gone.
      conditions.demand(`key = ${conditions.bind(WORKER_LEASE_PREFIX)} || holder`)
      const { workspace, collection } = ANNOUNCEMENTS
      const rows = await query<WorkerRow>(
        `SELECT ${LEASE_COLUMNS},
           (SELECT value FROM documents WHERE workspace = ${conditions.bind(workspace)}
             AND collection = ${conditions.bind(collection)} AND id = holder) AS announcement,
           (SELECT count(*) FROM tasks WHERE worker = holder AND kind <> 'turn') AS running
         FROM leases${conditions.where()} ORDER BY key`,
        conditions.values,
      )
      return rows.flatMap((row) => {
        const lease = toStoredLease(row)
        if (isSilent(row) || judgeLease(lease, toServerWord(row))) return []
        const announcement = row.announcement === null ? null : (JSON.parse(row.announcement) as JsonValue)
        return { id: lease.holder as WorkerId, process: lease.data, announcement, running: row.running }
      })
    },
  }
}
