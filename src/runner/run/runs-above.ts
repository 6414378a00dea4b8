import type { HasActive, HasStore } from "./scope.ts"
import type { ActiveRun } from "./active-run.ts"
import type { TaskId } from "../../task/id.ts"
import { isTurn } from "../tool/tool-source.ts"

/**
 * The run itself, then the runs that asked for it, as far as they are in this process: a call, its turn, its agent, …
 */
export function runsAbove({ active }: HasActive, run: ActiveRun): ActiveRun[] {
  const found: ActiveRun[] = []
  for (let next: ActiveRun | undefined = run; next; next = next.parentTask ? active.get(next.parentTask) : undefined) {
    found.push(next)
  }
  return found
}

/**
 * True if no caller waits for the run: it, or a run above it, is a task in the background. After a restart
 * a turn may go on before the agent's task that it belongs to: the store knows that one, but no call in the foreground.
 */
export async function isInBackground(scope: HasStore & HasActive, taskId: TaskId | null | undefined): Promise<boolean> {
  for (let id = taskId; id; ) {
    const run = scope.active.get(id)
    if (run?.standing.in === "background" && !isTurn(run)) return true
    const above = run ?? (await scope.store.task(id))
    if (above && "status" in above && above.kind !== "turn") return true
    id = above?.parentTask
  }
  return false
}
