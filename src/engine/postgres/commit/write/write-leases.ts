import type { StoredLease } from "../../../rules/tables.ts"
import { toStoredKey } from "../../schema/storable.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { Bulk } from "./bulk.ts"
import { columnsOf } from "./row-source.ts"

export function removeLeases(bulk: Bulk, { leases }: WorkingSet): void {
  const gone = leases.changes().flatMap(({ before, after }) => (before && !after ? [before.key] : []))
  bulk.run(gone.length, "DELETE FROM leases WHERE key = ANY($1::text[])", [gone])
}

/** Whoever takes or renews a lease is heard of now, by the server's clock. */
export function writeLeases(bulk: Bulk, { leases }: WorkingSet): void {
  const changes = leases.changes()
  const taken = changes.flatMap(({ before, after }) => (after && !before ? [toColumns(after)] : []))
  const renewed = changes.flatMap(({ before, after }) => (after && before ? [toColumns(after)] : []))
  bulk.insert("leases", columnsOf(taken))
  bulk.update("leases", columnsOf(renewed), ["key"], "renewed_at = clock_timestamp()")
}

function toColumns({ key, holder, fence, ttlMs, renewals, data }: StoredLease) {
  return {
    key: toStoredKey(key),
    holder: toStoredKey(holder),
    fence,
    ttl_ms: ttlMs,
    renewals,
    data: JSON.stringify(data),
  }
}
