import { systemClock } from "../../../base/clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import type { LeasedTickets } from "./leased-tickets.ts"
import type { QueuedRun, QueuedRuns } from "./queued-runs.ts"
import { toTicketId } from "./boss.ts"

interface Look {
  readonly atMs: number
  /** By ticket, when its run was first seen. */
  readonly firstSeenMs: ReadonlyMap<string, number>
}

/**
 * Finds in the tasks table the runs that pg-boss does not hand out: their tickets are lost, or held by a process that
 * is dead or does not want them, or lie behind too many that do not fit. A worker that holds a ticket claims its run at
 * once, so a run that is still queued a while later counts as abandoned. A plugin that is not clogged is looked at only
 * now and then. Returns the runs that may be offered here.
 */
export function createLookAround(
  queued: QueuedRuns,
  leased: LeasedTickets,
  wakeWithin: (delayMs: number) => void,
  patienceMs: number,
) {
  const lastLooks = new Map<string, Look>()

  function isTimeFor(plugin: string, nowMs: number): boolean {
    const last = lastLooks.get(plugin)
    return !last || nowMs - last.atMs >= patienceMs
  }

  function isAbandoned({ plugin, ...entry }: QueuedRun, nowMs: number): boolean {
    return nowMs - (lastLooks.get(plugin)?.firstSeenMs.get(toTicketId(entry)) ?? nowMs) >= patienceMs
  }

  return async (request: TakeRequest, clogged: ReadonlySet<string>): Promise<readonly QueuedRun[]> => {
    const nowMs = systemClock.monotonic()
    const plugins = request.plugins.filter((plugin) => clogged.has(plugin) || isTimeFor(plugin, nowMs))
    if (plugins.length < request.plugins.length) wakeWithin(patienceMs)
    if (plugins.length === 0) return []
    const found = await queued.find({ ...request, plugins })
    const unleased = found.filter((run) => !leased.has(run))
    const free = unleased.filter((run) => clogged.has(run.plugin) || isAbandoned(run, nowMs))
    for (const plugin of plugins) {
      const before = lastLooks.get(plugin)?.firstSeenMs
      const ids = found.filter((run) => run.plugin === plugin).map(toTicketId)
      lastLooks.set(plugin, { atMs: nowMs, firstSeenMs: new Map(ids.map((id) => [id, before?.get(id) ?? nowMs])) })
    }
    leased.addFound(free)
    if (free.length < unleased.length) wakeWithin(patienceMs)
    return free
  }
}
