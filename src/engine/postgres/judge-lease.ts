import type { Clock } from "../../base/clock.ts"
import { createLeaseWatch, type IsHolderAlive } from "../rules/lease-watch.ts"
import type { StoredLease } from "../rules/tables.ts"

/** Whether a lease is over. `isSilent`: by the server's clock it was not renewed for its whole time. */
export type JudgeLease = (lease: StoredLease, isSilent: boolean) => boolean

/**
 * The server's clock decides for all: those of workers jump and differ. Somebody who owns the time has no other than their
 * own, by which they see how long a lease stands still.
 */
export function createJudgeLease(isHolderAlive: IsHolderAlive = () => undefined, clock?: Clock): JudgeLease {
  if (!clock) return ({ data }, isSilent) => isSilent || isHolderAlive(data) === false
  const watch = createLeaseWatch(clock, isHolderAlive)
  return (lease) => watch.isOver(lease)
}
