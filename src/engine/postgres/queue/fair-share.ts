/**
 * Keeps a workspace with a long queue from being the only one that is served. In a round each workspace may have its share;
 * one that had it stands back until nobody else has anything left, which begins the next round. Priorities stand above it.
 */
export interface FairShare {
  /** A run of this workspace was claimed here. */
  count(workspace: string): void
  hadItsShare(workspace: string): boolean
  thoseWhoHadTheirs(): readonly string[]
  /** Nobody is left for whom those who had theirs would stand back. */
  beginRound(): void
}

const SMALLEST_SHARE = 32
/** Looking for others in vain costs a walk along the whole queue, so it is done less and less often. */
const LARGEST_SHARE = 512
/** A round that never ends, since nobody ever had a share, must not remember everybody. */
const MOST_WORKSPACES = 10_000

export function createFairShare(): FairShare {
  const counts = new Map<string, number>()
  const satisfied = new Set<string>()
  let share = SMALLEST_SHARE
  let wasWorthIt = false

  function clear(): void {
    counts.clear()
    satisfied.clear()
    wasWorthIt = false
  }

  return {
    count(workspace) {
      if (counts.size >= MOST_WORKSPACES) clear()
      const count = (counts.get(workspace) ?? 0) + 1
      counts.set(workspace, count)
      if (satisfied.size > 0 && !satisfied.has(workspace)) wasWorthIt = true
      if (count >= share) satisfied.add(workspace)
    },
    hadItsShare: (workspace) => satisfied.has(workspace),
    thoseWhoHadTheirs: () => [...satisfied],
    beginRound() {
      share = wasWorthIt ? SMALLEST_SHARE : Math.min(2 * share, LARGEST_SHARE)
      clear()
    },
  }
}
