import type { Announcement, WorkerView } from "../plugin/worker-view.ts"
import type { Runner } from "../runner/runner.ts"
import { TASK_KINDS, type TaskRecord, type TaskSummary } from "../task/record.ts"

/** The ability that a worker needs. A turn names no tool. */
export type Needs = Pick<TaskRecord, "kind"> & Partial<Pick<TaskRecord, "plugin" | "tool">>

type Capable = Pick<WorkerView, "where" | "announcement" | "isSilent" | "endsWhenIdle">

/** The processes that use the store. */
export interface DeskWorkers {
  /** Every process that takes work from the queue, or runs some. */
  list(): Promise<readonly WorkerView[]>
  /** Processes other than this one that would take such work when this process leaves it, keepers left out. */
  successors(needs: Needs): Promise<readonly WorkerView[]>
}

export function createDeskWorkers({ workers }: Pick<Runner, "workers">): DeskWorkers {
  return {
    list: async () => (await workers()).filter(isAtWork),
    successors: async (needs) => (await workers()).filter((worker) => willTake(worker, needs)),
  }
}

/**
 * True if a person would call the process a worker. One that only looks is none; one of an older version announces nothing,
 * and may be one.
 */
function isAtWork({ announcement, running, host }: WorkerView): boolean {
  return running > 0 || (announcement?.takes === "all" && announcement.concurrency > 0) || host === null
}

/**
 * The tasks that none of these workers goes on with. Questions and commands without an end need nobody. In a shared store
 * a command that runs needs a worker of this data folder, and no worker says which folder it has.
 */
export function findUntaken(
  tasks: readonly TaskRecord[],
  workers: readonly WorkerView[],
  isShared: boolean,
): readonly TaskRecord[] {
  return tasks.filter((task) => {
    if (task.status === "waiting" || isEndless(task)) return false
    return (isShared && task.status === "running") || !workers.some((worker) => willTake(worker, task))
  })
}

/** True for a command without a time limit: a server, or what was started to go on for ever. */
export function isEndless({ kind, status, lifetime, limits }: TaskRecord | TaskSummary): boolean {
  return kind === "tool" && status === "running" && (lifetime === "forever" || limits.timeoutMs === null)
}

export function takesAllKinds({ kinds }: Pick<Announcement, "kinds">): boolean {
  return TASK_KINDS.every((kind) => kinds.includes(kind))
}

/** True if another worker takes such work, and stays. One that ends when it is idle may have ended by then. */
export function willTake(worker: Capable, { kind, plugin, tool }: Needs): boolean {
  const { where, announcement, isSilent, endsWhenIdle } = worker
  if (where === "process" || isSilent || endsWhenIdle) return false
  if (announcement?.takes !== "all" || announcement.isLeaving || !announcement.kinds.includes(kind)) return false
  if (kind === "turn" || plugin === undefined || tool === undefined) return true
  return announcement.plugins[plugin]?.includes(tool) ?? false
}
