import type { StoredTask } from "../../rules/tables.ts"
import type { Query } from "../connection/database.ts"
import { type Boss, type NewTicket, toTicketId } from "./boss.ts"

/** A task as it was before a transaction and as it is after it; undefined: there was or is none. */
export interface TaskChange {
  readonly before: StoredTask | undefined
  readonly after: StoredTask | undefined
}

/** Inserts, removes and prioritizes the tickets of the runs, in the transaction of these changes. */
export type ChangeQueue = (query: Query, changes: readonly TaskChange[]) => Promise<void>

/** `isServerTime`: tasks are delayed by the clock of the server. */
export function createChangeQueue(boss: Boss, isServerTime: boolean): ChangeQueue {
  return async (query, changes) => {
    const { entered, left, prioritized } = toQueueChanges(changes, isServerTime)
    await boss.insert(query, entered)
    await boss.remove(query, left)
    await boss.prioritize(query, prioritized)
  }
}

interface QueueChanges {
  readonly entered: readonly NewTicket[]
  readonly left: readonly NewTicket[]
  readonly prioritized: readonly NewTicket[]
}

function toQueueChanges(changes: readonly TaskChange[], isServerTime: boolean): QueueChanges {
  const entered: NewTicket[] = []
  const left: NewTicket[] = []
  const prioritized: NewTicket[] = []
  for (const { before, after } of changes) {
    const old = before && toTicket(before, isServerTime)
    const current = after && toTicket(after, isServerTime)
    if (old?.id === current?.id) {
      if (current && current.priority !== old?.priority) prioritized.push(current)
      continue
    }
    if (old) left.push(old)
    if (current) entered.push(current)
  }
  return { entered, left, prioritized }
}

/**
 * pg-boss goes by the server's clock. If tasks are delayed by another clock, the ticket is available at once, and the
 * tasks table tells whether the run is due.
 */
function toTicket({ number, details, course, state }: StoredTask, isServerTime: boolean): NewTicket | undefined {
  if (state.status !== "queued") return undefined
  const { plugin, workspace, priority } = details
  const { run, fence, queuedAt } = course
  const isPutOff = isServerTime && state.availableAt > queuedAt
  return {
    id: toTicketId({ number, run, fence }),
    plugin,
    workspace,
    priority,
    ...(isPutOff ? { startAt: state.availableAt } : {}),
  }
}
