import { STOPPED_STATUSES, isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { StopRequest } from "../../plugin/stop-request.ts"
import type { CancelScope, HasStore } from "../run/scope.ts"
import { cancelTask } from "./cancel.ts"

/**
 * Stops runs of this process that the end of a task above them should have stopped. Every end of this version does so in
 * its own commit; an older program that works on the same store does not.
 */
export async function stopLeftRuns(scope: CancelScope): Promise<void> {
  for (const { taskId, standing, control, origin } of scope.active.values()) {
    if (standing.in !== "background" || control.stop || origin.parentTask === null) continue
    const task = await scope.store.task(taskId)
    const request = task?.status === "running" ? await findStopAbove(scope, task) : undefined
    if (task && request) await cancelTask(scope, task, request)
  }
}

/** A task of lifetime `turn` that was run again goes on after its turn: somebody wants it. */
async function findStopAbove(scope: HasStore, task: TaskRecord): Promise<StopRequest | undefined> {
  let endsWithTurn = task.lifetime === "turn" && task.run === 1
  for (let id = task.parentTask; id !== null && task.lifetime !== "forever"; ) {
    const above = await scope.store.task(id)
    if (!above) return undefined
    if (above.kind === "turn") {
      if (endsWithTurn && isTerminal(above.status)) return { by: "lifetime", reason: "its turn ended" }
      endsWithTurn = false
    } else if (STOPPED_STATUSES.has(above.status)) {
      return { by: "parent", reason: `the task above it, ${above.title} (${above.id.slice(0, 8)}), is ${above.status}` }
    } else if (!isTerminal(above.status)) return undefined
    id = above.parentTask
  }
  return undefined
}
