import type { FetchedTicket, LockedTicket } from "./boss.ts"
import type { LockedTask } from "../commit/load/lock-tasks.ts"
import type { QueuedRow } from "./queued-rows.ts"

/** A ticket as it was answered with its run, if that is locked by it. */
export type TicketWithRun = Pick<FetchedTicket | LockedTicket, "retryCount"> & { readonly ticketId: string } & (
    | LockedRun
    | { readonly number: null }
  )

type LockedRun = LockedTask & Pick<QueuedRow, "isDue">

export function isLocked(ticket: TicketWithRun): ticket is TicketWithRun & LockedRun {
  return ticket.number !== null
}

export function toQueuedRow(run: LockedRun): QueuedRow {
  const { id, number, fence, session, workspace, plugin, tool, model, folder, kind, priority, isDue } = run
  const { input_held_by: inputHeldBy, queued_at: queuedAt } = run
  return {
    id,
    number,
    run: run.run,
    fence,
    session,
    workspace,
    plugin,
    tool,
    model,
    folder,
    kind,
    inputHeldBy,
    priority,
    queuedAt,
    isDue,
  }
}
