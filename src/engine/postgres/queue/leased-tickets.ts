import { systemClock } from "../../../base/clock.ts"
import { createLiveMap } from "../../../base/live-map.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import type { TaskId } from "../../../task/id.ts"
import type { Query } from "../connection/database.ts"
import { type Boss, type FetchedTicket, type QueueEntry, toQueueEntry, toTicketId } from "./boss.ts"
import type { CheckedRun, QueuedRun, QueuedRuns } from "./queued-runs.ts"

export type LeasedTickets = ReturnType<typeof createLeasedTickets>

interface Claim {
  readonly run: QueuedRun
  /** The transaction of the claim has removed the ticket. */
  succeed(): void
  fail(): void
}

interface LeasedTicketsParts {
  readonly query: Query
  readonly boss: Boss
  readonly queued: QueuedRuns
  /** A ticket that nobody has claimed for this long goes back. */
  readonly patienceMs: number
  /** Called when tickets were given back, which other processes may want. */
  onRelease(): Promise<void>
}

interface Lease {
  readonly ticketId: string
  readonly plugin: string
  /** Null: the run was found in the tasks table, and the ticket is not ours to give back. */
  readonly ticket: FetchedTicket | null
  readonly sinceMs: number
  /** The run as last read. */
  run?: QueuedRun
  isBeingClaimed?: boolean
}

/**
 * The tickets that this process has fetched and nobody has claimed yet. A fetched ticket is hidden from all other
 * processes; without this record, a run that its worker declines or forgets would wait for ten seconds or more until
 * pg-boss counts the worker as dead. With it, the ticket goes back at once, or after a moment.
 */
export function createLeasedTickets(parts: LeasedTicketsParts) {
  const { query, boss, queued, patienceMs, onRelease } = parts
  const leases = createLeases()
  /** Tickets on their way back, or being removed. */
  const underWay = new Set<Promise<unknown>>()
  let cancelSweep: (() => void) | undefined

  function track(work: Promise<unknown>): void {
    const ended = work.catch(() => {}).finally(() => underWay.delete(ended))
    underWay.add(ended)
  }

  function begin(lease: Omit<Lease, "sinceMs">): Lease {
    const begun = { ...lease, sinceMs: systemClock.monotonic() }
    leases.add(begun)
    cancelSweep ??= systemClock.schedule(patienceMs, sweep, { isBackground: true })
    return begun
  }

  /**
   * Reads the runs of leases. A lease ends if its run has left the queue, or has left it and come back since; its
   * ticket is removed.
   */
  async function read(some: readonly Lease[], request: TakeRequest): Promise<readonly CheckedRun[]> {
    if (some.length === 0) return []
    const numbers = some.map(({ ticketId }) => toQueueEntry(ticketId).number)
    const runs = new Map((await queued.read(numbers, request)).map((run) => [toTicketId(run), run]))
    const found = some.flatMap((lease) => {
      const run = runs.get(lease.ticketId)
      if (run) leases.note(lease, run)
      return run ?? []
    })
    const stale = some.filter(({ ticketId }) => !runs.has(ticketId))
    for (const lease of stale) leases.end(lease)
    const tickets = stale.map(({ plugin, ticketId: id }) => ({ plugin, id }))
    // A ticket that could not be removed is fetched again, and removed then.
    if (stale.length > 0) track(boss.remove(query, tickets))
    return found
  }

  async function giveBack(some: readonly Lease[]): Promise<void> {
    for (const lease of some) leases.end(lease)
    for (const [plugin, ofPlugin] of Map.groupBy(some, (lease) => lease.plugin))
      await boss.giveBack(plugin, toTickets(ofPlugin))
  }

  /**
   * Gives back the tickets that nobody has claimed in time. One that cannot be given back returns by itself, once
   * pg-boss counts this process as dead.
   */
  function sweep(): void {
    const before = systemClock.monotonic() - patienceMs
    const unwanted = leases.values().filter(({ sinceMs, isBeingClaimed }) => sinceMs <= before && !isBeingClaimed)
    const isAnyLeft = unwanted.length < leases.values().length
    cancelSweep = isAnyLeft ? systemClock.schedule(patienceMs, sweep, { isBackground: true }) : undefined
    track(giveBack(unwanted))
  }

  async function giveToOthers(some: readonly Lease[]): Promise<void> {
    await giveBack(some)
    if (some.some(({ ticket }) => ticket !== null)) await onRelease()
  }

  return {
    /** Leases tickets, and returns those of their runs that are still queued. */
    add(plugin: string, tickets: readonly FetchedTicket[], request: TakeRequest): Promise<readonly CheckedRun[]> {
      const begun = tickets.map(({ id, retryCount }) => begin({ ticketId: id, plugin, ticket: { id, retryCount } }))
      return read(begun, request)
    },
    /** Leases runs that were found in the tasks table: their tickets are lost, or another process holds them. */
    addFound(runs: readonly QueuedRun[]): void {
      for (const run of runs) {
        const ticketId = toTicketId(run)
        if (!leases.get(ticketId)) leases.note(begin({ ticketId, plugin: run.plugin, ticket: null }), run)
      }
    },
    /** Reads the runs of all leases again, except those that are being claimed. */
    async check(request: TakeRequest): Promise<readonly CheckedRun[]> {
      // Tickets on their way back can be fetched again once they have arrived.
      await Promise.all(underWay)
      const free = leases.values().filter(({ isBeingClaimed }) => !isBeingClaimed)
      return read(free, request)
    },
    has: (entry: QueueEntry): boolean => leases.get(toTicketId(entry)) !== undefined,
    /** True if there is a lease for the run, and nobody is claiming it. */
    isFree(entry: QueueEntry): boolean {
      const lease = leases.get(toTicketId(entry))
      return lease !== undefined && !lease.isBeingClaimed
    },
    /** Marks a run as being claimed, so that it is not offered meanwhile. Undefined if there is no lease for it. */
    beginClaim(taskId: TaskId, run: number): Claim | undefined {
      const lease = leases.ofTask(taskId)
      if (lease?.run?.run !== run) return undefined
      lease.isBeingClaimed = true
      return {
        run: lease.run,
        succeed: () => leases.end(lease),
        fail() {
          lease.isBeingClaimed = false
        },
      }
    },
    /** Gives back the tickets of these tasks, so that other processes may have them at once. */
    release(tasks: readonly TaskId[]): void {
      const held = tasks.flatMap((id) => leases.ofTask(id) ?? [])
      const unwanted = held.filter(({ isBeingClaimed }) => !isBeingClaimed)
      if (unwanted.length > 0) track(giveToOthers(unwanted))
    },
    /** Gives all tickets back. */
    async close(): Promise<void> {
      cancelSweep?.()
      await Promise.all([giveBack(leases.values()), ...underWay])
    },
  }
}

function toTickets(leases: readonly Lease[]): readonly FetchedTicket[] {
  return leases.flatMap(({ ticket }) => ticket ?? [])
}

/** The leases, by ticket and by task. */
function createLeases() {
  const byTicket = createLiveMap<string, Lease>()
  const byTask = createLiveMap<TaskId, Lease>()
  return {
    get: byTicket.get,
    ofTask: byTask.get,
    values: byTicket.values,
    add: (lease: Lease): void => byTicket.set(lease.ticketId, lease),
    note(lease: Lease, run: QueuedRun): void {
      lease.run = run
      byTask.set(run.id, lease)
    },
    end({ ticketId, run }: Lease): void {
      byTicket.delete(ticketId)
      if (run && byTask.get(run.id)?.ticketId === ticketId) byTask.delete(run.id)
    },
  }
}
