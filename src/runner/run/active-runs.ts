import { createLiveMap, type LiveMap } from "../../base/live-map.ts"
import type { TaskId } from "../../task/id.ts"
import type { ActiveRun } from "./active-run.ts"

/** The runs of this process by their tasks, foreground calls included, and whether more of them may begin. */
export interface ActiveRuns extends LiveMap<TaskId, ActiveRun> {
  /** Tasks that are being written and will run here. */
  readonly entering: Set<Promise<unknown>>
  /** Runs that wait for others, each with those above it whose slots it has given up. */
  readonly yielding: Set<{ readonly run: ActiveRun; readonly given: ActiveRun[] }>
  /** From the begin of a shutdown. */
  isClosing: boolean
  /** Aborted at the end of a shutdown: every wait for a task then returns the task as it stands. */
  readonly closed: AbortController
}

export function createActiveRuns(): ActiveRuns {
  const runs = createLiveMap<TaskId, ActiveRun>()
  return {
    get size() {
      return runs.size
    },
    get: runs.get,
    has: runs.has,
    set: runs.set,
    delete: runs.delete,
    values: runs.values,
    entering: new Set(),
    yielding: new Set(),
    isClosing: false,
    closed: new AbortController(),
  }
}
