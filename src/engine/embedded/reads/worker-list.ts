import type { DatabaseSync } from "node:sqlite"
import type { JsonValue } from "../../../base/json.ts"
import type { WorkerId } from "../../../task/id.ts"
import { ANNOUNCEMENTS, WORKER_LEASE_PREFIX, type WorkerRecord } from "../../../task/worker.ts"
import { type LeaseRow, toStoredLease } from "../../rules/rows/lease-row.ts"
import type { LeaseWatch } from "../../rules/tables.ts"
import { prepare } from "../statement.ts"

type WorkerRow = LeaseRow & { readonly announcement: string | null; readonly running: number }

export function createWorkerList(database: DatabaseSync, watch: LeaseWatch): () => readonly WorkerRecord[] {
  // A lease that somebody else has taken is of a worker that is gone.
  const read = prepare<WorkerRow>(
    database,
    `SELECT leases.*,
       (SELECT value FROM documents WHERE workspace = ?2 AND collection = ?3 AND id = holder) AS announcement,
       (SELECT count(*) FROM tasks INDEXED BY tasks_by_status
         WHERE status IN ('running', 'stopping') AND worker = holder AND kind <> 'turn') AS running
     FROM leases WHERE key >= ?1 AND key = ?1 || holder ORDER BY key`,
  )
  return () =>
    read.all(WORKER_LEASE_PREFIX, ANNOUNCEMENTS.workspace, ANNOUNCEMENTS.collection).flatMap((row) => {
      const lease = toStoredLease(row)
      if (watch.isOver(lease)) return []
      const announcement = row.announcement === null ? null : (JSON.parse(row.announcement) as JsonValue)
      return { id: lease.holder as WorkerId, process: lease.data, announcement, running: row.running }
    })
}
