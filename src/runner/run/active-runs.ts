import { createLiveMap } from "../../base/live-map.ts"
import type { TaskId } from "../../task/id.ts"
import type { ActiveRun } from "./active-run.ts"

export type ActiveRuns = ReturnType<typeof createActiveRuns>

/** The runs of this process by their tasks, foreground calls included, and whether more of them may begin. */
export function createActiveRuns() {
  return Object.assign(createLiveMap<TaskId, ActiveRun>(), {
    /** Tasks that are being written and will run here. */
    entering: new Set<Promise<unknown>>(),
    /** Runs that wait for others, each with the runs whose slots were given up for its wait. */
    yielding: new Set<{ readonly run: ActiveRun; readonly given: ActiveRun[] }>(),
    /** True from the beginning of a shutdown. */
    isClosing: false,
    /** Aborted at the end of a shutdown: every wait for a task then returns the task as it stands. */
    closed: new AbortController(),
  })
}
