import { toErrorMessage } from "../../base/error.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { ActiveRun } from "../run/active-run.ts"
import type { CancelScope, HasLog } from "../run/scope.ts"
import { endTurn } from "../stop/lifetimes.ts"

/** Resolves when the turn's end is durable and what was to live no longer has been told to stop. */
export async function endWithChildren(scope: CancelScope & HasLog, active: ActiveRun): Promise<TaskRecord | null> {
  const task = await active.ended.promise
  if (task) await endChildren(scope, active)
  return task
}

/** Stops tasks that were to live no longer than the turn. A turn that was continued may have tasks from before. */
async function endChildren(
  scope: CancelScope & HasLog,
  { taskId, parentsOfTasks, standing }: ActiveRun,
): Promise<void> {
  const isContinued = standing.in === "background" && standing.fence > 1
  const parents = new Set([...(isContinued ? [taskId] : []), ...(parentsOfTasks ?? [])])
  try {
    for (const parent of parents) await endTurn(scope, parent)
  } catch (error) {
    scope.log.warn("tasks of a turn could not be stopped with it", { turn: taskId, error: toErrorMessage(error) })
  }
}
