import type { DatabaseSync } from "node:sqlite"
import type { JsonObject } from "../../../base/json.ts"
import { prepare } from "../statement.ts"

export interface StoredLease {
  readonly key: string
  readonly holder: string
  readonly fence: number
  readonly ttlMs: number
  /** Raised by every take and renewal: who sees it unchanged has seen a silent holder. */
  readonly renewals: number
  readonly data: JsonObject
}

export interface LeaseTable {
  find(key: string): StoredLease | undefined
  read(keyPrefix: string): readonly StoredLease[]
  save(lease: StoredLease): void
  renew(lease: StoredLease): void
  remove(key: string): void
  /** Grows for ever, over all keys, so that a lease that was given up and taken again has a higher fence. */
  nextFence(): number
}

type LeaseRow = Omit<StoredLease, "ttlMs" | "data"> & { readonly ttl_ms: number; readonly data: string }

export function createLeaseTable(database: DatabaseSync): LeaseTable {
  const find = prepare<LeaseRow>(database, "SELECT * FROM leases WHERE key = ?")
  const read = prepare<LeaseRow>(
    database,
    "SELECT * FROM leases WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1 ORDER BY key",
  )
  const save = prepare(
    database,
    "INSERT OR REPLACE INTO leases (key, holder, fence, ttl_ms, renewals, data) VALUES (?, ?, ?, ?, ?, ?)",
  )
  const renew = prepare(database, "UPDATE leases SET renewals = ? WHERE key = ?")
  const remove = prepare(database, "DELETE FROM leases WHERE key = ?")
  const nextFence = prepare<{ fence: number }>(
    database,
    "UPDATE last_lease_fence SET fence = fence + 1 WHERE only = 1 RETURNING fence",
  )
  return {
    find(key) {
      const row = find.get(key)
      return row && toLease(row)
    },
    read: (keyPrefix) => read.all(keyPrefix).map(toLease),
    save: ({ key, holder, fence, ttlMs, renewals, data }) =>
      void save.run(key, holder, fence, ttlMs, renewals, JSON.stringify(data)),
    renew: ({ key, renewals }) => void renew.run(renewals, key),
    remove: (key) => void remove.run(key),
    nextFence: () => nextFence.get()?.fence ?? 1,
  }
}

function toLease({ key, holder, fence, ttl_ms, renewals, data }: LeaseRow): StoredLease {
  return { key, holder, fence, ttlMs: ttl_ms, renewals, data: JSON.parse(data) as JsonObject }
}
