/**
 * One stay of a run in the queue. A run that comes back to the queue was claimed in between, which raised its fence: no two
 * stays are called the same.
 */
export interface QueueEntry {
  /** The task's. */
  readonly number: number
  readonly run: number
  readonly fence: number
}

/**
 * A queue entry written as a uuid: whoever sees a task knows which ticket stands for it, and whoever sees a ticket, for
 * which task it stands. A ticket for the same stay that is inserted again is the same ticket.
 */
export function toTicketId({ number, run, fence }: QueueEntry): string {
  const task = toHex(number, 16)
  const stay = toHex(run, 8) + toHex(fence, 8)
  return `${task.slice(0, 8)}-${task.slice(8, 12)}-${task.slice(12)}-${stay.slice(0, 4)}-${stay.slice(4)}`
}

export function toQueueEntry(ticketId: string): QueueEntry {
  const digits = ticketId.replaceAll("-", "")
  return {
    number: Number.parseInt(digits.slice(0, 16), 16),
    run: Number.parseInt(digits.slice(16, 24), 16),
    fence: Number.parseInt(digits.slice(24), 16),
  }
}

function toHex(value: number, length: number): string {
  return value.toString(16).padStart(length, "0")
}
