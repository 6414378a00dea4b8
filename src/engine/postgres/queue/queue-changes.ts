import type { StoredTask } from "../../rules/stored-task.ts"
import type { NewTicket } from "./boss.ts"
import { type QueueEntry, toTicketId } from "./ticket-id.ts"

/** A task as it was before a transaction and as it is after it; undefined: there was or is none. */
export interface TaskChange {
  readonly before: StoredTask | undefined
  readonly after: StoredTask | undefined
}

/** What a transaction means for the queue. */
export interface QueueChanges {
  readonly entered: readonly NewTicket[]
  readonly left: readonly NewTicket[]
  readonly prioritized: readonly NewTicket[]
}

export function toQueueChanges(changes: readonly TaskChange[], isServerTime: boolean): QueueChanges {
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
 * pg-boss goes by the server's clock. By another clock the ticket is there at once, and the table says whether the run is due.
 */
function toTicket(task: StoredTask, isServerTime: boolean): NewTicket | undefined {
  const { details, course, state } = task
  if (state.status !== "queued") return undefined
  const { plugin, workspace, priority } = details
  const isPutOff = isServerTime && state.availableAt > course.queuedAt
  return {
    id: toTicketId(toEntry(task)),
    plugin,
    workspace,
    priority,
    ...(isPutOff ? { startAt: state.availableAt } : {}),
  }
}

function toEntry({ number, course: { run, fence } }: StoredTask): QueueEntry {
  return { number, run, fence }
}
