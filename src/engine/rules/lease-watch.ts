import type { Clock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"
import type { LeaseWatch } from "./tables.ts"

/** True if the process that a lease describes is alive; undefined if this host cannot tell. */
export type IsHolderAlive = (data: JsonObject) => boolean | undefined

interface Sighting {
  readonly fence: number
  readonly renewals: number
  readonly firstSeenAt: number
}

/** Keys that are gone are never looked at again; forgetting the others only makes the judgement later. */
const MOST_SIGHTINGS = 10_000

/**
 * Judges whether a lease is over without trusting wall clocks, which jump and differ between hosts: its holder is known
 * to be dead, or this engine has seen its renewal counter stand still for the lease's whole time by its own monotonic
 * clock. So a first look never finds a living holder's lease over.
 */
export function createLeaseWatch(clock: Clock, isHolderAlive: IsHolderAlive): LeaseWatch {
  const sightings = new Map<string, Sighting>()
  return {
    isOver({ key, fence, renewals, ttlMs, data }) {
      if (isHolderAlive(data) === false) return true
      const seen = sightings.get(key)
      if (seen && seen.fence === fence && seen.renewals === renewals)
        return clock.monotonic() - seen.firstSeenAt >= ttlMs
      if (sightings.size > MOST_SIGHTINGS) sightings.clear()
      sightings.set(key, { fence, renewals, firstSeenAt: clock.monotonic() })
      return false
    },
  }
}
