import type { TaskId } from "../../task/id.ts"
import type { RunnerScope } from "../scope.ts"
import { isTurn } from "../turn/turn-name.ts"
import { runsAbove } from "./runs-above.ts"

/** Whether nobody waits for what this run does: it, or something above it, is a task in the background. */
export function isInBackground(scope: RunnerScope, taskId: TaskId | null | undefined): boolean {
  const run = taskId ? scope.active.get(taskId) : undefined
  return run !== undefined && runsAbove(scope, run).some((one) => one.standing.in === "background" && !isTurn(one))
}
