import { type Clock, systemClock } from "../../../base/clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import type { Boss, FetchRequest } from "./boss.ts"
import type { Custody, TicketInHand } from "./custody.ts"
import { createFairShare, type FairShare } from "../../rules/fair-share.ts"
import { createFits, type QueuedRow, type QueuedRows } from "./queued-rows.ts"
import type { Take } from "./take.ts"
import { toQueueEntry } from "./ticket-id.ts"
import { isLocked, type TicketWithRun, toQueuedRow } from "./ticket-with-run.ts"

/**
 * `exhausted`: there are no more tickets. `clogged`: so much lies before what fits that it was given up; what fits must
 * be found in another way.
 */
export type FetchOutcome = "enough" | "exhausted" | "clogged"

export interface Fetching {
  /** Brings into custody what the request may get of a plugin, up to its limit. */
  fetch(plugin: string, request: TakeRequest, take: Take): Promise<FetchOutcome>
  shareOf(plugin: string): FairShare
}

type Fits = (row: QueuedRow) => boolean
type Wanted = Omit<FetchRequest, "query" | "toStatement">

interface Fetch {
  readonly plugin: string
  readonly request: TakeRequest
  readonly take: Take
  readonly fits: Fits
}

interface Collected {
  readonly fitting: readonly QueuedRow[]
  readonly isClogged: boolean
  readonly hasMisfits: boolean
}

const NOTHING: Collected = { fitting: [], isClogged: false, hasMisfits: false }

/** As many tickets that do not fit are held at a time, of a plugin. */
const MOST_MISFITS = 200
/** For so long a queue with something before what fits is not fetched from: others may want that. */
const CLOGGED_MS = 1_000

export interface FetchingParts {
  readonly boss: Boss
  readonly queued: QueuedRows
  readonly custody: Custody
  readonly clock: Clock
}

export function createFetching({ boss, queued, custody, clock }: FetchingParts): Fetching {
  const shares = new Map<string, FairShare>()
  const cloggedUntilMs = new Map<string, number>()

  function shareOf(plugin: string): FairShare {
    const share = shares.get(plugin) ?? createFairShare(clock)
    shares.set(plugin, share)
    return share
  }

  async function bring(
    how: "lock" | "fetch",
    plugin: string,
    take: Take,
    wanted: Wanted,
  ): Promise<readonly TicketInHand[]> {
    const request = { ...wanted, query: take.query, toStatement: queued.withRuns }
    const tickets: readonly TicketWithRun[] = await boss[how]<TicketWithRun>(plugin, request)
    const locked = tickets.filter(isLocked)
    take.onLocked(locked)
    // A run that is not locked has left the queue, or somebody does something with it.
    const numbers = tickets.flatMap((ticket) => (isLocked(ticket) ? [] : toQueueEntry(ticket.ticketId).number))
    const others = new Map((await queued.read(numbers)).map((row) => [row.number, row]))
    return tickets.map((ticket) => {
      const { ticketId: id, retryCount } = ticket
      const row = isLocked(ticket) ? toQueuedRow(ticket) : others.get(toQueueEntry(id).number)
      return { id, retryCount, row }
    })
  }

  /** Undefined: something does not fit, or is locked already and would come again. */
  async function lockAll(plugin: string, take: Take, wanted: Wanted, fits: Fits): Promise<Collected | undefined> {
    if (!take.isOpen || custody.rows().some((row) => row.plugin === plugin)) return undefined
    const tickets = await bring("lock", plugin, take, wanted)
    if (!tickets.every(({ row }) => row && fits(row))) return undefined
    return { fitting: custody.add(plugin, tickets, take.ended), isClogged: false, hasMisfits: false }
  }

  async function collect(plugin: string, take: Take, wanted: Wanted, fits: Fits): Promise<Collected> {
    return (await lockAll(plugin, take, wanted, fits)) ?? fetchMore(plugin, take, wanted, fits)
  }

  /** Fetches more and more until enough of it fits. */
  async function fetchMore(plugin: string, take: Take, wanted: Wanted, fits: Fits): Promise<Collected> {
    const fitting: QueuedRow[] = []
    const enough = wanted.limit + custody.countLocked(plugin)
    let misfits = custody.rows().filter((row) => row.plugin === plugin && !fits(row)).length
    for (let limit = enough; ; limit = Math.min(2 * limit, MOST_MISFITS)) {
      const tickets = await bring("fetch", plugin, take, { ...wanted, limit })
      const rows = custody.add(plugin, tickets, take.ended)
      fitting.push(...rows.filter(fits))
      misfits += rows.filter((row) => !fits(row)).length
      const hasMisfits = misfits > 0
      if (tickets.length < limit || fitting.length >= enough) return { fitting, isClogged: false, hasMisfits }
      if (misfits >= MOST_MISFITS) return { fitting, isClogged: true, hasMisfits }
    }
  }

  /** Those that had their share stand back, but for what is more urgent than what the others have. */
  async function collectFairly(held: readonly QueuedRow[], { plugin, request, take, fits }: Fetch): Promise<Collected> {
    const { limit, fullWorkspaces: without } = request
    const share = shareOf(plugin)
    const room = limit - held.length
    const satisfied = share.thoseWhoHadTheirs()
    if (satisfied.length === 0) return collect(plugin, take, { limit: room, without }, fits)
    const lookedAtMs = clock.monotonic()
    const others = (await queued.isAnybodyElse(satisfied))
      ? await collect(plugin, take, { limit: room, without: [...without, ...satisfied] }, fits)
      : NOTHING
    const lookMs = clock.monotonic() - lookedAtMs
    if (others.isClogged) return others
    const left = room - others.fitting.length
    if (left <= 0) return collect(plugin, take, { limit: room, without, above: lowestPriority(others.fitting) }, fits)
    if ([...held, ...others.fitting].every(({ workspace }) => share.hadItsShare(workspace))) share.beginRound(lookMs)
    return collect(plugin, take, { limit: left, without }, fits)
  }

  return {
    shareOf,
    async fetch(plugin, request, take) {
      if (systemClock.monotonic() < (cloggedUntilMs.get(plugin) ?? 0)) return "clogged"
      const fits = createFits(request)
      const fitting = () => custody.rows().filter((row) => row.plugin === plugin && fits(row))
      const held = fitting()
      const { limit, fullWorkspaces: without } = request
      const { isClogged, hasMisfits } =
        held.length < limit
          ? await collectFairly(held, { plugin, request, take, fits })
          : await collect(plugin, take, { limit, without, above: lowestPriority(held) }, fits)
      if (hasMisfits) cloggedUntilMs.set(plugin, systemClock.monotonic() + CLOGGED_MS)
      if (isClogged) return "clogged"
      return fitting().length < limit ? "exhausted" : "enough"
    },
  }
}

function lowestPriority(rows: readonly QueuedRow[]): number {
  return Math.min(...rows.map(({ priority }) => priority))
}
