import { type Clock, systemClock } from "../../../base/clock.ts"
import { createLeaseWatch, type IsHolderAlive } from "../../rules/lease-watch.ts"
import type { StoredLease } from "../../rules/tables.ts"

/** True if a lease is over. */
export type JudgeLease = (lease: StoredLease, word: ServerTimes) => boolean

/**
 * A lease is over if its holder is known to be dead, or was silent for the lease's whole time. If a clock is given,
 * silence is measured by that clock alone.
 */
export function createJudgeLease(isHolderAlive: IsHolderAlive = () => undefined, clock?: Clock): JudgeLease {
  if (clock) {
    const watch = createLeaseWatch(clock, isHolderAlive)
    return (lease) => watch.isOver(lease)
  }
  const silenceOf = createLeaseSilence(systemClock)
  return (lease, word) => {
    const silentForMs = silenceOf(lease, word)
    return silentForMs >= lease.ttlMs || isHolderAlive(lease.data) === false
  }
}

/** The server's times, as they were read together with a lease. */
export interface ServerTimes {
  /** When the server was started. Another time means another server, or the same one after a restart. */
  readonly serverStart: string
  readonly serverNowMs: number
  readonly renewedAtMs: number
}

/** For how long nobody has renewed a lease, as far as this process can know. */
type LeaseSilence = (lease: StoredLease, word: ServerTimes) => number

interface Sighting {
  readonly fence: number
  readonly renewals: number
  readonly silentSinceMs: number
}

type ClockReading = Pick<ServerTimes, "serverStart" | "serverNowMs"> & { readonly monotonicMs: number }

/** A server's clock that gained or lost more than this between two looks was set, or is another clock. */
const LARGEST_DRIFT_MS = 1_000
/** Bounds the memory for keys that no longer exist. Forgetting the other keys only delays their judgement. */
const MOST_SIGHTINGS = 10_000

/**
 * A lease whose counter moves is alive, whatever any clock says. A lease whose counter stands still is silent since
 * that value was first seen. The server's clock only tells how long before that the lease was renewed, and only as far
 * back as this clock was seen to run like our own: a server that took over from another has another clock, and any
 * clock can be set. Nobody could renew before the server was started.
 */
export function createLeaseSilence(clock: Pick<Clock, "monotonic">): LeaseSilence {
  const sightings = new Map<string, Sighting>()
  let last: ClockReading | undefined
  let trustedFromMs = clock.monotonic()

  function readClock({ serverStart, serverNowMs }: ServerTimes): number {
    const monotonicMs = clock.monotonic()
    const isSame = last?.serverStart === serverStart
    if (last && !isSame) sightings.clear()
    const driftMs = last ? serverNowMs - last.serverNowMs - (monotonicMs - last.monotonicMs) : 0
    if (!isSame || Math.abs(driftMs) > LARGEST_DRIFT_MS) trustedFromMs = monotonicMs
    last = { serverStart, serverNowMs, monotonicMs }
    return monotonicMs
  }

  return ({ key, fence, renewals }, word) => {
    const nowMs = readClock(word)
    const seen = sightings.get(key)
    if (seen && seen.fence === fence && seen.renewals === renewals) return nowMs - seen.silentSinceMs
    if (sightings.size > MOST_SIGHTINGS) sightings.clear()
    const renewedAgoMs = Math.max(0, word.serverNowMs - word.renewedAtMs)
    const silentForMs = Math.min(renewedAgoMs, nowMs - trustedFromMs)
    sightings.set(key, { fence, renewals, silentSinceMs: nowMs - silentForMs })
    return silentForMs
  }
}
