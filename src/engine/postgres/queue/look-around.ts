import { systemClock } from "../../../base/clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import { type Custody, PATIENCE_MS } from "./custody.ts"
import type { QueuedRow, QueuedRows } from "./queued-rows.ts"
import type { WakeUp } from "./wake-up.ts"

/**
 * Finds in the table what pg-boss does not hand out: runs whose jobs are lost, or held by somebody who is dead or does not
 * want them, and runs behind too many that do not fit. While all goes well there are none, so each plugin is looked at only
 * every so often.
 */
export type LookAround = (request: TakeRequest, clogged: ReadonlySet<string>) => Promise<void>

/** Timers and clocks differ by less. */
const MARGIN_MS = 10

export function createLookAround(queued: QueuedRows, custody: Custody, wakeUp: WakeUp): LookAround {
  const againAtMs = new Map<string, number>()
  return async (request, clogged) => {
    const nowMs = systemClock.monotonic()
    const plugins = request.plugins.filter((plugin) => clogged.has(plugin) || nowMs >= (againAtMs.get(plugin) ?? 0))
    if (plugins.length < request.plugins.length) wakeUp.within(PATIENCE_MS)
    if (plugins.length === 0) return
    const found = await queued.find({ ...request, plugins })
    const isOverdue = (row: QueuedRow): boolean => clogged.has(row.plugin) || row.dueForMs >= PATIENCE_MS
    const young = found.filter((row) => !isOverdue(row) && !custody.has(row))
    custody.addFound(found.filter(isOverdue))
    // Whoever holds them may still be about to claim them.
    const againInMs = PATIENCE_MS - Math.min(...young.map(({ dueForMs }) => Math.max(dueForMs, 0)), PATIENCE_MS)
    for (const plugin of plugins) againAtMs.set(plugin, nowMs + (young.length > 0 ? againInMs : PATIENCE_MS))
    if (young.length > 0) wakeUp.within(againInMs + MARGIN_MS)
  }
}
