import type { Clock } from "../../base/clock.ts"
import type { Wake } from "../../task/bus.ts"
import type { Offer, TakeRequest } from "../../task/dispatcher.ts"
import type { TaskId } from "../../task/id.ts"
import { createFairShare, type FairShare } from "../rules/fair-share.ts"
import type { Prepare } from "./sqlite/statement.ts"

/** A queued run, and its place in the queue. */
export interface QueuedRun extends Offer {
  readonly number: number
  readonly priority: number
  readonly queuedAt: number
}

export interface FairTake {
  /** Ordered by priority, then by whether the workspace still has a share, then by age. */
  take(request: TakeRequest): readonly QueuedRun[]
  /** Counts offered tasks that have changed since as claimed, for the shares of their workspaces. */
  note(wakes: readonly Wake[]): void
}

/** Bounds the memory of a worker that never claims its offers. */
const MOST_OFFERED = 10_000

/** `findOf` finds the queued runs of a plugin for a request, in the order of the queue. */
export function createFairTake(
  prepare: Prepare,
  clock: Clock,
  findOf: (plugin: string, request: TakeRequest) => readonly QueuedRun[],
): FairTake {
  const shares = new Map<string, FairShare>()
  const offered = new Map<TaskId, QueuedRun>()
  const hasOtherWorkspaces = prepare<{ is: number }>(HAS_OTHER_WORKSPACES)

  function shareOf(plugin: string): FairShare {
    const share = shares.get(plugin) ?? createFairShare(clock)
    shares.set(plugin, share)
    return share
  }

  /** Workspaces that had their share get only the room the others leave. */
  function takeOf(plugin: string, satisfied: readonly string[], request: TakeRequest): readonly QueuedRun[] {
    const runs = findOf(plugin, request)
    if (satisfied.length === 0) return runs
    const limit = Math.min(request.limit, request.room?.get(plugin) ?? request.limit)
    const lookedAtMs = clock.monotonic()
    const others =
      runs.length < limit
        ? runs.filter(({ workspace }) => !satisfied.includes(workspace))
        : findOfOthers(plugin, satisfied, request)
    if (others.length === 0) shareOf(plugin).beginRound(clock.monotonic() - lookedAtMs)
    const byNumber = new Map([...runs, ...others].map((run) => [run.number, run]))
    return [...byNumber.values()].toSorted(byTurn(new Map([[plugin, satisfied]]))).slice(0, limit)
  }

  function findOfOthers(plugin: string, satisfied: readonly string[], request: TakeRequest): readonly QueuedRun[] {
    if (hasOtherWorkspaces.get(JSON.stringify(satisfied))?.is !== 1) return []
    return findOf(plugin, { ...request, fullWorkspaces: [...request.fullWorkspaces, ...satisfied] })
  }

  return {
    take(request) {
      const plugins = [...new Set(request.plugins)]
      // Read before the search: a round that begins during it counts from the next take on.
      const satisfied = new Map(plugins.map((plugin) => [plugin, shareOf(plugin).satisfiedWorkspaces()]))
      const found = plugins.flatMap((plugin) => takeOf(plugin, satisfied.get(plugin) ?? [], request))
      const runs = found.toSorted(byTurn(satisfied)).slice(0, request.limit)
      if (offered.size > MOST_OFFERED) offered.clear()
      for (const run of runs) offered.set(run.taskId, run)
      return runs
    },
    note(wakes) {
      for (const wake of wakes) {
        const run = wake.about === "task" ? offered.get(wake.taskId) : undefined
        if (!run) continue
        offered.delete(run.taskId)
        shareOf(run.plugin).count(run.workspace)
      }
    },
  }
}

function byTurn(satisfied: ReadonlyMap<string, readonly string[]>): (one: QueuedRun, other: QueuedRun) => number {
  const standsBack = ({ plugin, workspace }: QueuedRun) => Number(satisfied.get(plugin)?.includes(workspace) === true)
  return (one, other) =>
    other.priority - one.priority ||
    standsBack(one) - standsBack(other) ||
    one.queuedAt - other.queuedAt ||
    one.number - other.number
}

const QUEUED = "FROM tasks INDEXED BY tasks_by_status WHERE status = 'queued'"
/** Goes from workspace to workspace, so that it does not walk along the long queue of one of them. */
const HAS_OTHER_WORKSPACES = `WITH RECURSIVE waiting (workspace) AS (
    SELECT min(workspace) ${QUEUED}
    UNION ALL
    SELECT (SELECT min(workspace) ${QUEUED} AND workspace > waiting.workspace) FROM waiting WHERE waiting.workspace IS NOT NULL
  )
  SELECT EXISTS (SELECT 1 FROM waiting WHERE workspace NOT IN (SELECT value FROM json_each(?))) AS "is"`
