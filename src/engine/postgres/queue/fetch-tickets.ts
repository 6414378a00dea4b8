import { type Clock, systemClock } from "../../../base/clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import { createFairShare, type FairShare } from "../../rules/fair-share.ts"
import type { Boss, FetchRequest } from "./boss.ts"
import type { LeasedTickets } from "./leased-tickets.ts"
import type { CheckedRun, QueuedRun, QueuedRuns } from "./queued-runs.ts"

/**
 * `exhausted`: there are no more tickets. `clogged`: too many tickets that do not fit lie in front of those that do; the
 * tasks table has to be asked instead.
 */
type FetchOutcome = "enough" | "exhausted" | "clogged"

export interface TicketFetching {
  /** Leases tickets of a plugin and adds their runs to `runs`, until as many of them fit as the request may get. */
  fetch(plugin: string, request: TakeRequest, runs: CheckedRun[]): Promise<FetchOutcome>
  shareOf(plugin: string): FairShare
}

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

interface TicketFetchingParts {
  readonly boss: Boss
  readonly queued: QueuedRuns
  readonly leased: LeasedTickets
  readonly clock: Clock
}

export function createTicketFetching({ boss, queued, leased, clock }: TicketFetchingParts): TicketFetching {
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
      const satisfied = share.satisfiedWorkspaces()
      if (satisfied.length === 0) return fetchMore({ limit: room, without })
      const lookedAtMs = clock.monotonic()
      const others = (await queued.hasOtherWorkspaces(satisfied))
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
    async fetch(plugin, request, runs) {
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
