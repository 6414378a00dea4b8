import type { Clock } from "../../../base/clock.ts"
import type { JsonValue } from "../../../base/json.ts"
import type { WorkerId } from "../../../task/id.ts"
import type { TaskStore } from "../../../task/store.ts"
import { ANNOUNCEMENTS, WORKER_LEASE_PREFIX } from "../../../task/worker.ts"
import { toStoredLease } from "../../rules/hold-lease.ts"
import type { Query } from "../connection/database.ts"
import type { JudgeLease } from "./judge-lease.ts"
import { createConditions, demandPrefix } from "./conditions.ts"
import { createIsSilent, type HeardLeaseRow, LEASE_COLUMNS, toServerWord } from "./lease-reads.ts"

type WorkerRow = HeardLeaseRow & { readonly announcement: string | null; readonly running: number }

/**
 * Leaves a silent worker out at once, also where the server or its clock is to blame for the silence. Callers that decide by
 * this list read the leases too.
 */
export function createWorkerReads(
  query: Query,
  judgeLease: JudgeLease,
  clock: Clock | undefined,
): Pick<TaskStore, "workers"> {
  const isSilent = createIsSilent(clock)
  return {
    async workers() {
      const conditions = createConditions()
      demandPrefix(conditions, "key", WORKER_LEASE_PREFIX)
      // One that somebody else has taken is of a worker that is gone.
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
