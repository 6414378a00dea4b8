import { systemClock } from "../../../base/clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import type { Boss, FetchRequest } from "../boss.ts"
import type { Custody } from "./custody.ts"
import { createFairShare, type FairShare } from "./fair-share.ts"
import { createFits, type QueuedRow, type QueuedRows, type TicketWithRun } from "./queued-rows.ts"

/**
 * `exhausted`: there are no more tickets. `clogged`: so much lies before what fits that it was given up; what fits must
 * be found in another way.
 */
export type FetchOutcome = "enough" | "exhausted" | "clogged"

export interface Fetching {
  /** Brings into custody what the request may get of a plugin, up to its limit. */
  fetch(plugin: string, request: TakeRequest): Promise<FetchOutcome>
  shareOf(plugin: string): FairShare
}

type Fits = (row: QueuedRow) => boolean

interface Collected {
  readonly fitting: readonly QueuedRow[]
  readonly isClogged: boolean
  readonly hasMisfits: boolean
}

/** As many tickets that do not fit are held at a time, of a plugin. */
const MOST_MISFITS = 200
/** For so long a queue with something before what fits is not fetched from: others may want that. */
const CLOGGED_MS = 1_000

export function createFetching(boss: Boss, queued: QueuedRows, custody: Custody): Fetching {
  const shares = new Map<string, FairShare>()
  const cloggedUntilMs = new Map<string, number>()

  function shareOf(plugin: string): FairShare {
    const share = shares.get(plugin) ?? createFairShare()
    shares.set(plugin, share)
    return share
  }

  /** Fetches more and more until enough of it fits. */
  async function collect(plugin: string, wanted: FetchRequest, fits: Fits): Promise<Collected> {
    const fitting: QueuedRow[] = []
    let misfits = custody.rows().filter((row) => row.plugin === plugin && !fits(row)).length
    for (let limit = wanted.limit; ; limit = Math.min(2 * limit, MOST_MISFITS)) {
      const tickets = await boss.fetch<TicketWithRun>(plugin, { ...wanted, limit, toStatement: queued.withRuns })
      const rows = custody.add(plugin, tickets)
      fitting.push(...rows.filter(fits))
      misfits += rows.filter((row) => !fits(row)).length
      const hasMisfits = misfits > 0
      if (tickets.length < limit || fitting.length >= wanted.limit) return { fitting, isClogged: false, hasMisfits }
      if (misfits >= MOST_MISFITS) return { fitting, isClogged: true, hasMisfits }
    }
  }

  /** Those that had their share stand back, but for what is more urgent than what the others have. */
  async function collectFairly(plugin: string, held: readonly QueuedRow[], request: TakeRequest, fits: Fits) {
    const { limit, fullWorkspaces: without } = request
    const share = shareOf(plugin)
    const room = limit - held.length
    const satisfied = share.thoseWhoHadTheirs()
    if (satisfied.length === 0) return collect(plugin, { limit: room, without }, fits)
    const others = await collect(plugin, { limit: room, without: [...without, ...satisfied] }, fits)
    if (others.isClogged) return others
    const left = room - others.fitting.length
    if (left <= 0) return collect(plugin, { limit: room, without, above: lowestPriority(others.fitting) }, fits)
    if ([...held, ...others.fitting].every(({ workspace }) => share.hadItsShare(workspace))) share.beginRound()
    return collect(plugin, { limit: left, without }, fits)
  }

  return {
    shareOf,
    async fetch(plugin, request) {
      if (systemClock.monotonic() < (cloggedUntilMs.get(plugin) ?? 0)) return "clogged"
      const fits = createFits(request)
      const fitting = () => custody.rows().filter((row) => row.plugin === plugin && fits(row))
      const held = fitting()
      const { limit, fullWorkspaces: without } = request
      const { isClogged, hasMisfits } =
        held.length < limit
          ? await collectFairly(plugin, held, request, fits)
          : await collect(plugin, { limit, without, above: lowestPriority(held) }, fits)
      if (hasMisfits) cloggedUntilMs.set(plugin, systemClock.monotonic() + CLOGGED_MS)
      if (isClogged) return "clogged"
      return fitting().length < limit ? "exhausted" : "enough"
    },
  }
}

function lowestPriority(rows: readonly QueuedRow[]): number {
  return Math.min(...rows.map(({ priority }) => priority))
}
