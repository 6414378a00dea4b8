import { type Clock, systemClock } from "../../../base/clock.ts"
import { createLeaseWatch, type IsHolderAlive } from "../../rules/lease-watch.ts"
import type { StoredLease } from "../../rules/tables.ts"
import { createLeaseSilence, type ServerWord } from "./lease-silence.ts"

/** Whether a lease is over. */
export type JudgeLease = (lease: StoredLease, word: ServerWord) => boolean

/** Over is a lease whose holder is known to be dead, or that was silent for its whole time. Who owns the time decides by it alone. */
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
