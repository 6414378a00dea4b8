import type { WorkerView } from "../plugin/worker-view.ts"
import type { Runner } from "../runner/runner.ts"
import type { TaskRecord } from "../task/record.ts"

/** The ability that a worker needs. A turn names no tool. */
export type Needs = Pick<TaskRecord, "kind"> & Partial<Pick<TaskRecord, "plugin" | "tool">>

/** The processes that use the store. */
export interface DeskWorkers {
  /** Every process that takes work from the queue, or runs some. */
  list(): Promise<readonly WorkerView[]>
  /** Processes other than this one that would take such work when this process leaves it. */
  successors(needs: Needs): Promise<readonly WorkerView[]>
}

export function createDeskWorkers({ workers }: Pick<Runner, "workers">): DeskWorkers {
  return {
    list: async () => (await workers()).filter(isAtWork),
    successors: async (needs) => (await workers()).filter((worker) => canTake(worker, needs)),
  }
}

/**
 * True if a person would call the process a worker. One that only looks is none; one of an older version announces nothing,
 * and may be one.
 */
function isAtWork({ announcement, running, host }: WorkerView): boolean {
  return running > 0 || (announcement?.takes === "all" && announcement.concurrency > 0) || host === null
}

function canTake({ where, announcement }: WorkerView, { kind, plugin, tool }: Needs): boolean {
  if (where === "process" || announcement?.takes !== "all" || !announcement.kinds.includes(kind)) return false
  if (plugin === undefined || tool === undefined) return true
  return announcement.plugins[plugin]?.includes(tool) ?? false
}
