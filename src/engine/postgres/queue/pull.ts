import type { Clock } from "../../../base/clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import type { Custody } from "./custody.ts"
import type { Fetching } from "./fetching.ts"
import { createFits, type QueuedRow, type QueuedRows, type WorkspacesOfPlugins } from "./queued-rows.ts"
import type { Take } from "./take.ts"

/**
 * Brings into custody what the request may get, of each plugin as much as is its turn: what is pulled beyond that, others
 * would have to wait for. Answers with the plugins whose work must be found in another way.
 */
export type Pull = (request: TakeRequest, take: Take) => Promise<ReadonlySet<string>>

export interface PullParts {
  readonly queued: QueuedRows
  readonly custody: Custody
  readonly fetching: Fetching
  readonly clock: Clock
  byTurn(one: QueuedRow, other: QueuedRow): number
}

export function createPull({ queued, custody, fetching, clock, byTurn }: PullParts): Pull {
  /**
   * Of workspaces that had their share, only what the others leave room for. Where these have nothing the next round begins,
   * also if nothing is fetched there: who looks again at once looks in vain.
   */
  async function findByTurn(request: TakeRequest): Promise<readonly QueuedRow[]> {
    const satisfied = new Map(
      request.plugins.flatMap((plugin) => {
        const workspaces = fetching.shareOf(plugin).thoseWhoHadTheirs()
        return workspaces.length === 0 ? [] : [[plugin, workspaces] as const]
      }),
    )
    if (satisfied.size === 0) return queued.find(request)
    const lookedAtMs = clock.monotonic()
    const [all, ofOthers] = await Promise.all([queued.find(request), findOfOthers(request, satisfied)])
    const byNumber = new Map([...all, ...ofOthers].map((row) => [row.number, row]))
    const rows = withinRoom([...byNumber.values()].toSorted(byTurn), request)
    if (ofOthers.length < request.limit) {
      const lookMs = clock.monotonic() - lookedAtMs
      const inVain = [...satisfied.keys()].filter((plugin) => !ofOthers.some((row) => row.plugin === plugin))
      for (const plugin of inVain) fetching.shareOf(plugin).beginRound(lookMs)
    }
    return rows
  }

  async function findOfOthers(request: TakeRequest, satisfied: WorkspacesOfPlugins): Promise<readonly QueuedRow[]> {
    const isAnybodyElse = await Promise.all(
      request.plugins.map(async (plugin) => {
        const workspaces = satisfied.get(plugin)
        return !workspaces || queued.isAnybodyElse(workspaces)
      }),
    )
    const plugins = request.plugins.filter((_, index) => isAnybodyElse[index])
    return plugins.length === 0 ? [] : queued.find({ ...request, plugins }, satisfied)
  }

  /** By plugin, how many it has among the first. Who wants one plugin need not ask. */
  async function apportion(request: TakeRequest): Promise<ReadonlyMap<string, number>> {
    const { plugins, limit, room } = request
    const [only, another] = plugins
    if (only !== undefined && another === undefined) return new Map([[only, Math.min(limit, room?.get(only) ?? limit)]])
    const byPlugin = Map.groupBy(await findByTurn(request), ({ plugin }) => plugin)
    return new Map([...byPlugin].map(([plugin, rows]) => [plugin, rows.length]))
  }

  return async (request, take) => {
    const fits = createFits(request)
    const clogged = new Set<string>()
    let left = request.plugins
    for (;;) {
      const isLeft = new Set(left)
      const settled = custody.rows().filter((row) => fits(row) && !isLeft.has(row.plugin))
      const limit = request.limit - settled.length
      if (limit <= 0 || left.length === 0) return clogged
      const parts = await apportion({ ...request, plugins: left, limit })
      const outcomes = await Promise.all(
        [...parts].map(async ([plugin, part]) => {
          const outcome = await fetching.fetch(plugin, { ...request, limit: part }, take)
          if (outcome === "clogged") clogged.add(plugin)
          return { plugin, isOver: outcome !== "enough" }
        }),
      )
      const over = new Set(outcomes.filter(({ isOver }) => isOver).map(({ plugin }) => plugin))
      // Others hold what was missing there: there may be room for more of the rest.
      left = left.filter((plugin) => !over.has(plugin))
      if (over.size === 0) return clogged
    }
  }
}

/** The first ones, of each plugin no more than there is room for. */
export function withinRoom(rows: readonly QueuedRow[], { limit, room }: TakeRequest): readonly QueuedRow[] {
  const counts = new Map<string, number>()
  const fitting = rows.filter(({ plugin }) => {
    const count = (counts.get(plugin) ?? 0) + 1
    counts.set(plugin, count)
    return count <= (room?.get(plugin) ?? limit)
  })
  return fitting.slice(0, limit)
}
