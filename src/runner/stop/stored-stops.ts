import type { TaskId } from "../../task/id.ts"
import type { FenceScope, HasActive, HasClock, HasConfig } from "../run/scope.ts"
import { abortRun, type StopCause } from "../run/stop-run.ts"

/**
 * Applies stops that are in the store to the runs of this process: those of other processes, and those that came with the
 * stop of a task above.
 */
export async function applyStoredStops(scope: FenceScope & HasClock & HasConfig & HasActive): Promise<void> {
  if (scope.active.size === 0) return
  const { items } = await scope.store.tasks(
    { worker: scope.worker.id, statuses: ["stopping"] },
    { limit: scope.active.size + 1 },
  )
  for (const task of items) {
    if (task.status === "stopping") abortHere(scope, task.id, task.run, task.stop)
  }
}

/** Aborts a run if it runs in this process. */
export function abortHere(scope: HasClock & HasConfig & HasActive, id: TaskId, run: number, cause: StopCause): void {
  const active = scope.active.get(id)
  if (active?.run === run) abortRun(scope, active, cause)
}
