import { systemClock } from "../../../base/clock.ts"
import type { TaskId } from "../../../task/id.ts"
import type { Boss, FetchedTicket, LockedTicket } from "./boss.ts"
import type { Query } from "../connection/database.ts"
import { createHoldings, type Holding, toFoundHolding, toHolding } from "./holdings.ts"
import { type QueueEntry, toTicketId } from "./ticket-id.ts"
import type { QueuedRow, QueuedRows } from "./queued-rows.ts"
import { createRemovals } from "./removals.ts"
import type { Take } from "./take.ts"

/**
 * What this process may offer and nobody else is handed. It can be offered again and again. It leaves when its run is
 * claimed or has left the queue in another way, and goes back when nobody has claimed it for a while.
 */
export interface Custody {
  /** Takes tickets in, each with its run if that is still queued, and answers with those that are. */
  add(plugin: string, tickets: readonly TicketInHand[], taken: Take["ended"]): readonly QueuedRow[]
  /** How many tickets of open takes are here: who fetches in the same transaction meets them again. */
  countLocked(plugin: string): number
  /** Runs that were found in the table, whose tickets are lost or are somebody else's. */
  addFound(rows: readonly QueuedRow[]): void
  /** Looks at everything again, and lets go of what has left the queue. */
  refresh(): Promise<void>
  /** What may be offered now. */
  rows(): readonly QueuedRow[]
  has(entry: QueueEntry): boolean
  /** Is not offered while somebody is claiming it. Undefined: it is not here. */
  beginClaim(taskId: TaskId, run: number): Claim | undefined
  /** Others may have these at once. */
  release(entries: readonly QueueEntry[]): void
  /** Gives everything back. */
  close(): Promise<void>
}

export type TicketInHand = (FetchedTicket | LockedTicket) & { readonly row: QueuedRow | undefined }

export interface Claim {
  readonly row: QueuedRow
  /** Its ticket is gone. */
  succeed(): void
  fail(): void
}

export interface CustodyParts {
  readonly query: Query
  readonly boss: Boss
  readonly queued: QueuedRows
  /** What nobody has claimed after so long goes back. */
  readonly patienceMs: number
  /** Something was given back that others may want. */
  onRelease(): Promise<void>
}

export function createCustody({ query, boss, queued, patienceMs, onRelease }: CustodyParts): Custody {
  const holdings = createHoldings()
  const removals = createRemovals((tickets) => boss.remove(query, tickets))
  const releasing = new Set<Promise<void>>()
  let cancelSweep: (() => void) | undefined

  function hold(holding: Holding): Holding {
    holdings.add(holding)
    cancelSweep ??= systemClock.schedule(patienceMs, sweep, { isBackground: true })
    return holding
  }

  function letGo({ ticketId, plugin }: Holding): void {
    holdings.drop(ticketId)
    removals.add({ plugin, id: ticketId })
  }

  /** A run that is not in the queue any more, or that has come back to it since, is let go. */
  function see(holding: Holding, row: QueuedRow | undefined): readonly QueuedRow[] {
    if (row?.run === holding.entry.run && row.fence === holding.entry.fence) return [holdings.note(holding, row)]
    letGo(holding)
    return []
  }

  async function lookAt(some: readonly Holding[]): Promise<void> {
    const rows = await queued.read(some.map(({ entry }) => entry.number))
    const byNumber = new Map(rows.map((row) => [row.number, row]))
    for (const holding of some) see(holding, byNumber.get(holding.entry.number))
  }

  async function giveBack(some: readonly Holding[]): Promise<void> {
    for (const { ticketId } of some) holdings.drop(ticketId)
    // Whoever gives back what nobody sees that it was taken gives nothing back; what was taken back, others may have by now.
    const endings = await Promise.all(some.map(async ({ ticket }) => ticket?.taken))
    const ours = some.filter((_, index) => endings[index] === "committed")
    for (const [plugin, ofPlugin] of Map.groupBy(ours, (holding) => holding.plugin))
      await boss.giveBack(
        plugin,
        ofPlugin.flatMap(({ ticket }) => ticket ?? []),
      )
  }

  function sweep(): void {
    const before = systemClock.monotonic() - patienceMs
    const unwanted = holdings.values().filter((holding) => holding.sinceMs <= before && !holding.isBeingClaimed)
    const isAnyLeft = unwanted.length < holdings.size
    cancelSweep = isAnyLeft ? systemClock.schedule(patienceMs, sweep, { isBackground: true }) : undefined
    // What cannot be given back comes back by itself, once it is clear that nobody speaks for it.
    giveBack(unwanted).catch(() => {})
  }

  /** What cannot be given back is found by others all the same, once they see that nobody takes it. */
  async function giveToOthers(some: readonly Holding[]): Promise<void> {
    const giving = giveBack(some).finally(() => releasing.delete(giving))
    releasing.add(giving)
    await giving
    if (some.some(({ ticket }) => ticket !== null)) await onRelease()
  }

  /** What was only locked is others' now, and so is everything of a take that was taken back. They passed it by till now. */
  function forget(some: readonly Holding[], ending: Awaited<Take["ended"]>): void {
    const lost = some.filter(
      (holding) =>
        !holding.isBeingClaimed && (holding.isLocked || ending === "taken_back") && !holdings.isFollowed(holding),
    )
    for (const { ticketId } of lost) holdings.drop(ticketId)
    if (lost.length > 0 && ending === "committed") onRelease().catch(() => {})
  }

  return {
    add(plugin, tickets, taken) {
      const held = tickets.map((ticket) => hold(toHolding(plugin, ticket, taken)))
      const forgetting = taken.then((ending) => {
        releasing.delete(forgetting)
        forget(held, ending)
      })
      // Who looks before it has ended would pass by what it has locked, and find nothing here once it has.
      if (held.some(({ isLocked }) => isLocked)) releasing.add(forgetting)
      return held.flatMap((holding, index) => see(holding, tickets[index]?.row))
    },
    countLocked: (plugin) => holdings.values().filter((each) => each.isLocked && each.plugin === plugin).length,
    addFound(rows) {
      for (const row of rows) if (!holdings.has(toTicketId(row))) holdings.note(hold(toFoundHolding(row)), row)
    },
    async refresh() {
      await Promise.allSettled(releasing)
      await lookAt(holdings.values().filter(({ isBeingClaimed }) => !isBeingClaimed))
    },
    rows: () => holdings.values().flatMap(({ row, isBeingClaimed }) => (row && !isBeingClaimed ? row : [])),
    has: (entry) => holdings.has(toTicketId(entry)),
    beginClaim(taskId, run) {
      const holding = holdings.ofTask(taskId)
      if (holding?.row?.run !== run) return undefined
      holding.isBeingClaimed = true
      return {
        row: holding.row,
        succeed: () => holdings.drop(holding.ticketId),
        fail() {
          holding.isBeingClaimed = false
        },
      }
    },
    release(entries) {
      const held = entries.flatMap((entry) => holdings.get(toTicketId(entry)) ?? [])
      const unwanted = held.filter(({ isBeingClaimed }) => !isBeingClaimed)
      if (unwanted.length > 0) giveToOthers(unwanted).catch(() => {})
    },
    async close() {
      cancelSweep?.()
      await Promise.all([giveBack(holdings.values()), removals.close(), Promise.allSettled(releasing)])
    },
  }
}
