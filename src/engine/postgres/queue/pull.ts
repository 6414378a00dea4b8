import { type Clock, systemClock } from "../../../base/clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import { createFairShare, type FairShare } from "../../rules/fair-share.ts"
import type { Boss, FetchRequest } from "./boss.ts"
import type { LeasedTickets } from "./leased-tickets.ts"
import type { CheckedRun, QueuedRun, QueuedRuns, WorkspacesOfPlugins } from "./queued-runs.ts"

interface PullParts {
  readonly boss: Boss
  readonly queued: QueuedRuns
  readonly leased: LeasedTickets
  readonly clock: Clock
}

export function createPull(parts: PullParts) {
  const { queued, clock } = parts
  const { fetch, shareOf } = createTicketFetching(parts)

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
        const workspaces = shareOf(plugin).thoseWhoHadTheirs()
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
    const isAnybodyElse = await Promise.all(
      request.plugins.map(async (plugin) => {
        const workspaces = satisfied.get(plugin)
        return !workspaces || queued.isAnybodyElse(workspaces)
      }),
    )
    const plugins = request.plugins.filter((_, index) => isAnybodyElse[index])
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

  return { pull, byTurn, shareOf }
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

/**
 * `exhausted`: there are no more tickets. `clogged`: too many tickets that do not fit lie in front of those that do; the
 * tasks table has to be asked instead.
 */
type FetchOutcome = "enough" | "exhausted" | "clogged"

interface Fetched {
  readonly fitting: readonly QueuedRun[]
  readonly isClogged: boolean
  readonly hasMisfits: boolean
}

const NOTHING: Fetched = { fitting: [], isClogged: false, hasMisfits: false }

/** The most tickets of a plugin that are leased at a time although their runs do not fit. */
const MOST_MISFITS = 200
/** How long the queue is left alone after a ticket did not fit: other workers may want the tickets at its front. */
const CLOGGED_MS = 1_000

function createTicketFetching({ boss, queued, leased, clock }: PullParts) {
  const shares = new Map<string, FairShare>()
  const cloggedUntilMs = new Map<string, number>()

  function shareOf(plugin: string): FairShare {
    const share = shares.get(plugin) ?? createFairShare(clock)
    shares.set(plugin, share)
    return share
  }

  /** Fetches from one plugin for one request, and adds what it finds to `runs`. */
  function fetchFor(plugin: string, request: TakeRequest, runs: CheckedRun[]) {
    /** Fetches more and more tickets until enough of their runs fit. */
    async function fetchMore(wanted: FetchRequest): Promise<Fetched> {
      const fitting: QueuedRun[] = []
      let misfits = runs.filter((run) => run.plugin === plugin && !run.fits).length
      for (let { limit } = wanted; ; limit = Math.min(2 * limit, MOST_MISFITS)) {
        const tickets = await boss.fetch(plugin, { ...wanted, limit })
        const found = await leased.add(plugin, tickets, request)
        runs.push(...found)
        fitting.push(...found.filter(({ fits }) => fits))
        misfits += found.filter(({ fits }) => !fits).length
        const hasMisfits = misfits > 0
        if (tickets.length < limit || fitting.length >= wanted.limit) return { fitting, isClogged: false, hasMisfits }
        if (misfits >= MOST_MISFITS) return { fitting, isClogged: true, hasMisfits }
      }
    }

    /** Workspaces that had their share stand back, except for runs that are more urgent than those of the others. */
    async function fetchFairly(held: readonly QueuedRun[]): Promise<Fetched> {
      const { limit, fullWorkspaces: without } = request
      const share = shareOf(plugin)
      const room = limit - held.length
      const satisfied = share.thoseWhoHadTheirs()
      if (satisfied.length === 0) return fetchMore({ limit: room, without })
      const lookedAtMs = clock.monotonic()
      const others = (await queued.isAnybodyElse(satisfied))
        ? await fetchMore({ limit: room, without: [...without, ...satisfied] })
        : NOTHING
      const lookMs = clock.monotonic() - lookedAtMs
      if (others.isClogged) return others
      const left = room - others.fitting.length
      if (left <= 0) return fetchMore({ limit: room, without, above: lowestPriority(others.fitting) })
      if ([...held, ...others.fitting].every(({ workspace }) => share.hadItsShare(workspace))) share.beginRound(lookMs)
      return fetchMore({ limit: left, without })
    }

    return { fetchMore, fetchFairly }
  }

  return {
    shareOf,
    /** Leases tickets of a plugin and adds their runs to `runs`, until as many of them fit as the request may get. */
    async fetch(plugin: string, request: TakeRequest, runs: CheckedRun[]): Promise<FetchOutcome> {
      if (systemClock.monotonic() < (cloggedUntilMs.get(plugin) ?? 0)) return "clogged"
      const { fetchMore, fetchFairly } = fetchFor(plugin, request, runs)
      const fitting = () => runs.filter((run) => run.plugin === plugin && run.fits)
      const held = fitting()
      const { limit, fullWorkspaces: without } = request
      const { isClogged, hasMisfits } =
        held.length < limit ? await fetchFairly(held) : await fetchMore({ limit, without, above: lowestPriority(held) })
      if (hasMisfits) cloggedUntilMs.set(plugin, systemClock.monotonic() + CLOGGED_MS)
      if (isClogged) return "clogged"
      return fitting().length < limit ? "exhausted" : "enough"
    },
  }
}

function lowestPriority(runs: readonly QueuedRun[]): number {
  return Math.min(...runs.map(({ priority }) => priority))
}
