import type { Clock } from "../../base/clock.ts"

/**
 * Keeps a workspace with a long queue from being the only one that is served. In a round each workspace may have its share;
 * one that had it stands back until nobody else has anything left, which begins the next round. Priorities stand above it.
 */
export interface FairShare {
  /** A run of this workspace was claimed here. */
  count(workspace: string): void
  hadItsShare(workspace: string): boolean
  thoseWhoHadTheirs(): readonly string[]
  /** Nobody is left for whom those who had theirs would stand back, which took so long to find out. */
  beginRound(lookMs: number): void
}

/** A share is so many runs, and where they come slowly it is over after so long, however few they were. */
const SHARE_RUNS = 32
const SHARE_MS = 250
/** Looking for others is a walk along the whole queue: it takes no more than such a part of the time. */
const LOOKS_BETWEEN = 4
const VAIN_LOOKS_BETWEEN = 10
/** A round that never ends, since nobody ever had a share, must not remember everybody. */
const MOST_WORKSPACES = 10_000

interface Served {
  readonly sinceMs: number
  runs: number
}

export function createFairShare(clock: Pick<Clock, "monotonic">): FairShare {
  const served = new Map<string, Served>()
  let leastMs = 0
  let leastAmongOthersMs = 0

  function isOver({ sinceMs, runs }: Served): boolean {
    const ms = clock.monotonic() - sinceMs
    return ms >= leastMs && (runs >= SHARE_RUNS || ms >= SHARE_MS)
  }

  return {
    count(workspace) {
      if (served.size >= MOST_WORKSPACES) served.clear()
      const known = served.get(workspace)
      if (known) known.runs += 1
      else served.set(workspace, { sinceMs: clock.monotonic(), runs: 1 })
      if (served.size > 1) leastMs = leastAmongOthersMs
    },
    hadItsShare(workspace) {
      const known = served.get(workspace)
      return known !== undefined && isOver(known)
    },
    thoseWhoHadTheirs: () => [...served].filter(([, each]) => isOver(each)).map(([workspace]) => workspace),
    beginRound(lookMs) {
      const wasAlone = served.size < 2
      leastAmongOthersMs = LOOKS_BETWEEN * lookMs
      leastMs = wasAlone ? Math.max(VAIN_LOOKS_BETWEEN * lookMs, SHARE_MS) : leastAmongOthersMs
      served.clear()
    },
  }
}
