import { systemClock } from "../../../base/clock.ts"
import type { TicketReference } from "./boss.ts"

/**
 * Tickets that were met although their runs have left the queue, removed a batch at a time. One that is forgotten is met again.
 */
export interface Removals {
  add(ticket: TicketReference): void
  /** Waits for what was added before. */
  close(): Promise<void>
}

const COLLECT_MS = 20

export function createRemovals(remove: (tickets: readonly TicketReference[]) => Promise<void>): Removals {
  let waiting: TicketReference[] = []
  let cancelTimer: (() => void) | undefined
  let flushing: Promise<unknown> = Promise.resolve()

  function flush(): void {
    cancelTimer?.()
    cancelTimer = undefined
    const batch = waiting
    waiting = []
    flushing = Promise.all([flushing, remove(batch).catch(() => {})])
  }

  return {
    add(ticket) {
      waiting.push(ticket)
      cancelTimer ??= systemClock.schedule(COLLECT_MS, flush, { isBackground: true })
    },
    async close() {
      flush()
      await flushing
    },
  }
}
