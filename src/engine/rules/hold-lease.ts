import { MeanwhileError } from "../../base/error.ts"
import type { Lease } from "../../task/lease.ts"
import type { LeaseWatch, StoredLease, Tables } from "./tables.ts"
import type { Handlers } from "./change.ts"
import type { JsonObject } from "../../base/json.ts"

export function createLeaseHandlers({ leases }: Tables, watch: LeaseWatch) {
  /** Accepts a late holder: a lease that nobody took over is still its holder's. */
  function requireHeld(key: string, holder: string, fence: number): StoredLease {
    const lease = leases.find(key)
    if (lease && lease.holder === holder && lease.fence === fence) return lease
    const text = `The lease ${key} was taken over or is gone. Stop what was done under it.`
    throw new MeanwhileError("stale_claim", text, { key, fence: lease?.fence ?? null })
  }

  return {
    "lease.take"({ key, holder, ttlMs, data }) {
      const known = leases.find(key)
      const isOwn = known?.holder === holder
      if (known && !isOwn && !watch.isOver(known)) {
        const text = `The lease ${key} is held by ${known.holder}. Wait until it is given up or over.`
        throw new MeanwhileError("lease_held", text, { key, holder: known.holder })
      }
      const fence = isOwn ? known.fence : leases.nextFence()
      const lease = { key, holder, fence, ttlMs, renewals: (known?.renewals ?? 0) + 1, data }
      leases.save(lease)
      return toHeld(lease)
    },
    "lease.renew"({ key, holder, fence }) {
      const lease = requireHeld(key, holder, fence)
      const renewed = { ...lease, renewals: lease.renewals + 1 }
      leases.renew(renewed)
      return toHeld(renewed)
    },
    "lease.release"({ key, holder, fence }) {
      requireHeld(key, holder, fence)
      leases.remove(key)
      return null
    },
  } satisfies Partial<Handlers>
}

export function toLease(
  { key, holder, fence, ttlMs, data }: StoredLease,
  isOver: boolean,
  isSilent: boolean = isOver,
): Lease {
  return { key, holder, fence, ttlMs, data, isOver, isSilent }
}

const toHeld = (lease: StoredLease): Lease => toLease(lease, false)

export type LeaseRow = Omit<StoredLease, "ttlMs" | "data"> & { readonly ttl_ms: number; readonly data: string }

export function toStoredLease({ key, holder, fence, ttl_ms, renewals, data }: LeaseRow): StoredLease {
  return { key, holder, fence, ttlMs: ttl_ms, renewals, data: JSON.parse(data) as JsonObject }
}
