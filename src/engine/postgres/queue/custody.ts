import { systemClock } from "../../../base/clock.ts"
import type { TaskId } from "../../../task/id.ts"
import type { Boss, FetchedJob } from "../boss.ts"
import type { Query } from "../connection/database.ts"
import { type QueueEntry, toJobId, toQueueEntry } from "./job-id.ts"
import type { QueuedRow, QueuedRows } from "./queued-rows.ts"
import { createRemovals } from "./removals.ts"

/**
 * What this process may offer and nobody else is handed. It can be offered again and again. It leaves when its run is
 * claimed or has left the queue in another way, and goes back when nobody has claimed it for a while.
 */
export interface Custody {
  /** Takes jobs in, and answers with those of their runs that are still queued. */
  add(plugin: string, jobs: readonly FetchedJob[]): Promise<readonly QueuedRow[]>
  /** Runs that were found in the table, whose jobs are lost or are somebody else's. */
  addFound(rows: readonly QueuedRow[]): void
  /** Looks at everything again, and lets go of what has left the queue. */
  refresh(): Promise<void>
  /** What may be offered now. */
  rows(): readonly QueuedRow[]
  has(entry: QueueEntry): boolean
  /** Is not offered while somebody is claiming it. Undefined: it is not here. */
  beginClaim(taskId: TaskId, run: number): Claim | undefined
  /** Gives everything back. */
  close(): Promise<void>
}

export interface Claim {
  readonly row: QueuedRow
  /** Its job is gone. */
  succeed(): void
  fail(): void
}

interface Holding {
  readonly jobId: string
  readonly entry: QueueEntry
  readonly plugin: string
  /** Null: not ours to give back. */
  readonly job: FetchedJob | null
  readonly sinceMs: number
  /** As it was when last looked at. */
  row?: QueuedRow
  isBeingClaimed?: boolean
}

/** Whoever is offered a run claims it at once. */
export const PATIENCE_MS = 250

export function createCustody(query: Query, boss: Boss, queued: QueuedRows): Custody {
  const holdings = new Map<string, Holding>()
  const removals = createRemovals((jobs) => boss.remove(query, jobs))
  let cancelSweep: (() => void) | undefined

  function hold(plugin: string, entry: QueueEntry, job: FetchedJob | null): Holding {
    const holding = { jobId: job?.id ?? toJobId(entry), entry, plugin, job, sinceMs: systemClock.monotonic() }
    holdings.set(holding.jobId, holding)
    cancelSweep ??= systemClock.schedule(PATIENCE_MS, sweep, { isBackground: true })
    return holding
  }

  function letGo({ jobId, plugin }: Holding): void {
    holdings.delete(jobId)
    removals.add({ plugin, id: jobId })
  }

  async function lookAt(some: readonly Holding[]): Promise<readonly QueuedRow[]> {
    const rows = await queued.read(some.map(({ entry }) => entry.number))
    const byNumber = new Map(rows.map((row) => [row.number, row]))
    const seen: QueuedRow[] = []
    for (const holding of some) {
      const row = byNumber.get(holding.entry.number)
      if (row?.run === holding.entry.run && row.fence === holding.entry.fence) seen.push((holding.row = row))
      else letGo(holding)
    }
    return seen
  }

  async function giveBack(some: readonly Holding[]): Promise<void> {
    for (const { jobId } of some) holdings.delete(jobId)
    for (const [plugin, ofPlugin] of Map.groupBy(some, (holding) => holding.plugin))
      await boss.giveBack(
        plugin,
        ofPlugin.flatMap(({ job }) => job ?? []),
      )
  }

  function sweep(): void {
    const before = systemClock.monotonic() - PATIENCE_MS
    const all = [...holdings.values()]
    const isAnyLeft = all.some(({ sinceMs }) => sinceMs > before)
    cancelSweep = isAnyLeft ? systemClock.schedule(PATIENCE_MS, sweep, { isBackground: true }) : undefined
    // What cannot be given back comes back by itself, once it is clear that nobody speaks for it.
    giveBack(all.filter(({ sinceMs }) => sinceMs <= before)).catch(() => {})
  }

  function findByTask(taskId: TaskId, run: number): Holding | undefined {
    for (const holding of holdings.values()) if (holding.row?.id === taskId && holding.row.run === run) return holding
    return undefined
  }

  return {
    add: (plugin, jobs) => lookAt(jobs.map((job) => hold(plugin, toQueueEntry(job.id), job))),
    addFound(rows) {
      for (const row of rows) if (!holdings.has(toJobId(row))) hold(row.plugin, row, null).row = row
    },
    refresh: async () => void (await lookAt([...holdings.values()])),
    rows: () => [...holdings.values()].flatMap(({ row, isBeingClaimed }) => (row && !isBeingClaimed ? row : [])),
    has: (entry) => holdings.has(toJobId(entry)),
    beginClaim(taskId, run) {
      const holding = findByTask(taskId, run)
      if (!holding?.row) return undefined
      holding.isBeingClaimed = true
      return {
        row: holding.row,
        succeed: () => void holdings.delete(holding.jobId),
        fail() {
          holding.isBeingClaimed = false
        },
      }
    },
    async close() {
      cancelSweep?.()
      await Promise.all([giveBack([...holdings.values()]), removals.close()])
    },
  }
}
