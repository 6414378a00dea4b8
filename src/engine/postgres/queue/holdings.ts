import { systemClock } from "../../../base/clock.ts"
import { createLiveMap } from "../../../base/live-map.ts"
import type { TaskId } from "../../../task/id.ts"
import type { FetchedTicket, LockedTicket } from "./boss.ts"
import type { QueuedRow } from "./queued-rows.ts"
import type { Take } from "./take.ts"
import { type QueueEntry, toQueueEntry, toTicketId } from "./ticket-id.ts"

export interface HeldTicket extends FetchedTicket {
  readonly taken: Take["ended"]
}

export interface Holding {
  readonly ticketId: string
  readonly entry: QueueEntry
  readonly plugin: string
  /** Null: not ours to give back. */
  readonly ticket: HeldTicket | null
  /** By a take that is open: it is others' as soon as that has ended. */
  readonly isLocked: boolean
  readonly sinceMs: number
  /** As it was when last looked at. */
  row?: QueuedRow
  isBeingClaimed?: boolean
}

export function toHolding(
  plugin: string,
  { id, retryCount }: FetchedTicket | LockedTicket,
  taken: Take["ended"],
): Holding {
  const ticket = retryCount === null ? null : { id, retryCount, taken }
  const isLocked = ticket === null
  return { ticketId: id, entry: toQueueEntry(id), plugin, ticket, isLocked, sinceMs: systemClock.monotonic() }
}

/** Of a run that was found in the table, whose ticket is lost or is somebody else's. */
export function toFoundHolding(row: QueuedRow): Holding {
  const sinceMs = systemClock.monotonic()
  return { ticketId: toTicketId(row), entry: row, plugin: row.plugin, ticket: null, isLocked: false, sinceMs }
}

/** What is in custody, by ticket and by task. */
export interface Holdings {
  readonly size: number
  add(holding: Holding): void
  /** As its run was just seen in the queue. */
  note(holding: Holding, row: QueuedRow): QueuedRow
  drop(ticketId: string): void
  get(ticketId: string): Holding | undefined
  has(ticketId: string): boolean
  /** The same ticket came again, and is here as that. */
  isFollowed(holding: Holding): boolean
  ofTask(id: TaskId): Holding | undefined
  values(): readonly Holding[]
}

export function createHoldings(): Holdings {
  const byTicket = createLiveMap<string, Holding>()
  const byTask = createLiveMap<TaskId, Holding>()
  return {
    get size() {
      return byTicket.size
    },
    add: (holding) => byTicket.set(holding.ticketId, holding),
    note(holding, row) {
      byTask.set(row.id, holding)
      return (holding.row = row)
    },
    drop(ticketId) {
      const row = byTicket.get(ticketId)?.row
      byTicket.delete(ticketId)
      if (row && byTask.get(row.id)?.ticketId === ticketId) byTask.delete(row.id)
    },
    get: byTicket.get,
    has: byTicket.has,
    isFollowed: (holding) => (byTicket.get(holding.ticketId) ?? holding) !== holding,
    ofTask: byTask.get,
    values: byTicket.values,
  }
}
