import type { Clock } from "../../base/clock.ts"

/**
 * Keeps a workspace with a long queue from being the only one that is served. In each round a workspace may have its
 * share. One that had it stands back until nobody else has anything left, which begins the next round. Priorities count
 * before shares.
 */
export interface FairShare {
  /** Counts a run of this workspace that was claimed here. */
  count(workspace: string): void
  hadItsShare(workspace: string): boolean
  satisfiedWorkspaces(): readonly string[]
  /**
   * Begins the next round, because nobody is left for whom the others would stand back. `lookMs` is how long it took to
   * find that out.
   */
  beginRound(lookMs: number): void
}

/** A share is over after this many runs, or after this time, however few the runs were. */
const SHARE_RUNS = 32
const SHARE_MS = 250
/**
 * To look for other workspaces is to walk along the whole queue. A share lasts at least this many times as long as the
 * last look; for a workspace that was alone in its round, the second factor counts.
 */
const LOOKS_BETWEEN = 4
const VAIN_LOOKS_BETWEEN = 10
/** Bounds the memory of a round that never ends because no workspace gets its whole share. */
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
    satisfiedWorkspaces: () => [...served].filter(([, each]) => isOver(each)).map(([workspace]) => workspace),
    beginRound(lookMs) {
      const wasAlone = served.size < 2
      leastAmongOthersMs = LOOKS_BETWEEN * lookMs
      leastMs = wasAlone ? Math.max(VAIN_LOOKS_BETWEEN * lookMs, SHARE_MS) : leastAmongOthersMs
      served.clear()
    },
  }
}
