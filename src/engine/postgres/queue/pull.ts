import type { Clock } from "../../../base/clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import type { TicketFetching } from "./fetch-tickets.ts"
import type { CheckedRun, QueuedRun, QueuedRuns, WorkspacesOfPlugins } from "./queued-runs.ts"

interface PullParts {
  readonly queued: QueuedRuns
  readonly fetching: TicketFetching
  readonly clock: Clock
}

export function createPull({ queued, fetching, clock }: PullParts) {
  const { fetch, shareOf } = fetching

  /** Orders by priority, then by whether the workspace has had its share, then by age. */
  function byTurn(one: QueuedRun, other: QueuedRun): number {
    const standsBack = ({ plugin, workspace }: QueuedRun) => Number(shareOf(plugin).hadItsShare(workspace))
    return (
      other.priority - one.priority ||
      standsBack(one) - standsBack(other) ||
      one.queuedAt - other.queuedAt ||
      one.number - other.number
    )
  }

  /**
   * Gives workspaces that had their share only the room that the others leave. If the others have nothing, the next
   * round begins, even if nothing is fetched: a second look at once would find nothing either.
   */
  async function findByTurn(request: TakeRequest): Promise<readonly QueuedRun[]> {
    const satisfied = new Map(
      request.plugins.flatMap((plugin) => {
        const workspaces = shareOf(plugin).satisfiedWorkspaces()
        return workspaces.length === 0 ? [] : [[plugin, workspaces] as const]
      }),
    )
    if (satisfied.size === 0) return queued.find(request)
    const lookedAtMs = clock.monotonic()
    const [all, ofOthers] = await Promise.all([queued.find(request), findOfOthers(request, satisfied)])
    const byNumber = new Map([...all, ...ofOthers].map((run) => [run.number, run]))
    const runs = withinRoom([...byNumber.values()].toSorted(byTurn), request)
    if (ofOthers.length < request.limit) {
      const lookMs = clock.monotonic() - lookedAtMs
      const inVain = [...satisfied.keys()].filter((plugin) => !ofOthers.some((run) => run.plugin === plugin))
      for (const plugin of inVain) shareOf(plugin).beginRound(lookMs)
    }
    return runs
  }

  async function findOfOthers(request: TakeRequest, satisfied: WorkspacesOfPlugins): Promise<readonly QueuedRun[]> {
    const hasOtherWorkspaces = await Promise.all(
      request.plugins.map(async (plugin) => {
        const workspaces = satisfied.get(plugin)
        return !workspaces || queued.hasOtherWorkspaces(workspaces)
      }),
    )
    const plugins = request.plugins.filter((_, index) => hasOtherWorkspaces[index])
    return plugins.length === 0 ? [] : queued.find({ ...request, plugins }, satisfied)
  }

  /** By plugin, how many of the first runs in the queue are its own. With one plugin no query is needed. */
  async function apportion(request: TakeRequest): Promise<ReadonlyMap<string, number>> {
    const { plugins, limit, room } = request
    const [only, another] = plugins
    if (only !== undefined && another === undefined) return new Map([[only, Math.min(limit, room?.get(only) ?? limit)]])
    const byPlugin = Map.groupBy(await findByTurn(request), ({ plugin }) => plugin)
    return new Map([...byPlugin].map(([plugin, runs]) => [plugin, runs.length]))
  }

  /**
   * Fetches tickets for a request and adds their runs to `runs`: of each plugin as many as it has among the first in
   * the queue, since other workers have to wait for every ticket beyond that. Returns the plugins whose work has to be
   * found in the tasks table.
   */
  async function pull(request: TakeRequest, runs: CheckedRun[]): Promise<ReadonlySet<string>> {
    const clogged = new Set<string>()
    let left = request.plugins
    for (;;) {
      const isLeft = new Set(left)
      const settled = runs.filter(({ fits, plugin }) => fits && !isLeft.has(plugin))
      const limit = request.limit - settled.length
      if (limit <= 0 || left.length === 0) return clogged
      const parts = await apportion({ ...request, plugins: left, limit })
      const outcomes = await Promise.all(
        [...parts].map(async ([plugin, part]) => {
          const outcome = await fetch(plugin, { ...request, limit: part }, runs)
          if (outcome === "clogged") clogged.add(plugin)
          return { plugin, isOver: outcome !== "enough" }
        }),
      )
      const over = new Set(outcomes.filter(({ isOver }) => isOver).map(({ plugin }) => plugin))
      // Other processes hold the tickets that were missing, so there may be room for more runs of the other plugins.
      left = left.filter((plugin) => !over.has(plugin))
      if (over.size === 0) return clogged
    }
  }

  return { pull, byTurn }
}

/** The first runs, of each plugin no more than there is room for. */
export function withinRoom<Run extends QueuedRun>(runs: readonly Run[], { limit, room }: TakeRequest): readonly Run[] {
  const counts = new Map<string, number>()
  const fitting = runs.filter(({ plugin }) => {
    const count = (counts.get(plugin) ?? 0) + 1
    counts.set(plugin, count)
    return count <= (room?.get(plugin) ?? limit)
  })
  return fitting.slice(0, limit)
}
