import { systemClock } from "../../../base/clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import type { Custody } from "./custody.ts"
import { toTicketId } from "./ticket-id.ts"
import type { QueuedRow, QueuedRows } from "./queued-rows.ts"
import type { WakeUp } from "./wake-up.ts"

/**
 * Finds in the table what pg-boss does not hand out: runs whose tickets are lost, or held by somebody who is dead or does not
 * want them, and runs behind too many that do not fit. Who holds a ticket to some purpose claims its run at once, so a run
 * counts as left alone when it is met again a while later. Each plugin is looked at only every so often. True when
 * something came into custody.
 */
export type LookAround = (request: TakeRequest, clogged: ReadonlySet<string>) => Promise<boolean>

interface Look {
  readonly atMs: number
  /** When each run that is there was met for the first time. */
  readonly firstMetMs: ReadonlyMap<string, number>
}

export function createLookAround(queued: QueuedRows, custody: Custody, wakeUp: WakeUp, patienceMs: number): LookAround {
  const lastLooks = new Map<string, Look>()

  function isTimeFor(plugin: string, nowMs: number): boolean {
    const last = lastLooks.get(plugin)
    return !last || nowMs - last.atMs >= patienceMs
  }

  function isLeftAlone({ plugin, ...entry }: QueuedRow, nowMs: number): boolean {
    return nowMs - (lastLooks.get(plugin)?.firstMetMs.get(toTicketId(entry)) ?? nowMs) >= patienceMs
  }

  return async (request, clogged) => {
    const nowMs = systemClock.monotonic()
    const plugins = request.plugins.filter((plugin) => clogged.has(plugin) || isTimeFor(plugin, nowMs))
    if (plugins.length < request.plugins.length) wakeUp.within(patienceMs)
    if (plugins.length === 0) return false
    const found = await queued.find({ ...request, plugins })
    const strange = found.filter((row) => !custody.has(row))
    const free = strange.filter((row) => clogged.has(row.plugin) || isLeftAlone(row, nowMs))
    for (const plugin of plugins) {
      const before = lastLooks.get(plugin)?.firstMetMs
      const ids = found.filter((row) => row.plugin === plugin).map(toTicketId)
      lastLooks.set(plugin, { atMs: nowMs, firstMetMs: new Map(ids.map((id) => [id, before?.get(id) ?? nowMs])) })
    }
    custody.addFound(free)
    if (free.length < strange.length) wakeUp.within(patienceMs)
    return free.length > 0
  }
}
