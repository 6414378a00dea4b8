import type { Prepare } from "../sqlite/statement.ts"
import { type LeaseRow, toStoredLease } from "../../rules/hold-lease.ts"
import type { LeaseTable, StoredLease } from "../../rules/tables.ts"

export type StoredLeases = LeaseTable & { read(keyPrefix: string): readonly StoredLease[] }

export function createLeaseTable(prepare: Prepare): StoredLeases {
  const find = prepare<LeaseRow>("SELECT * FROM leases WHERE key = ?")
  const read = prepare<LeaseRow>(
    "SELECT * FROM leases WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1 ORDER BY key",
  )
  const save = prepare(
    "INSERT OR REPLACE INTO leases (key, holder, fence, ttl_ms, renewals, data) VALUES (?, ?, ?, ?, ?, ?)",
  )
  const renew = prepare("UPDATE leases SET renewals = ? WHERE key = ?")
  const remove = prepare("DELETE FROM leases WHERE key = ?")
  const nextFence = prepare<{ fence: number }>(
    "UPDATE last_lease_fence SET fence = fence + 1 WHERE only = 1 RETURNING fence",
  )
  return {
    find(key) {
      const row = find.get(key)
      return row && toStoredLease(row)
    },
    read: (keyPrefix) => read.all(keyPrefix).map(toStoredLease),
    save: ({ key, holder, fence, ttlMs, renewals, data }) =>
      void save.run(key, holder, fence, ttlMs, renewals, JSON.stringify(data)),
    renew: ({ key, renewals }) => void renew.run(renewals, key),
    remove: (key) => void remove.run(key),
    nextFence: () => nextFence.get()?.fence ?? 1,
  }
}
