import type { JsonObject } from "../../../base/json.ts"
import type { StoredLease } from "../tables.ts"

export type LeaseRow = Omit<StoredLease, "ttlMs" | "data"> & { readonly ttl_ms: number; readonly data: string }

export function toStoredLease({ key, holder, fence, ttl_ms, renewals, data }: LeaseRow): StoredLease {
  return { key, holder, fence, ttlMs: ttl_ms, renewals, data: JSON.parse(data) as JsonObject }
}
