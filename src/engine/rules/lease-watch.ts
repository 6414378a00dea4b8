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

/** Bounds the memory for keys that no longer exist. Forgetting the other keys only delays their judgement. */
const MOST_SIGHTINGS = 10_000

/**
 * Judges whether a lease is over without trusting wall clocks, which jump and differ between hosts. A lease is over if
 * its holder is known to be dead, or if this engine, by its own monotonic clock, has seen the renewal counter stand
 * still for the lease's whole time. So a first look never finds a living holder's lease over.
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
