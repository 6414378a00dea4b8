import type { TaskRecord } from "../../task/record.ts"
import type { HasActive, HasQueue, HasWritten } from "./scope.ts"
import type { TaskId } from "../../task/id.ts"
import { isTurn } from "../tool/runtime-tools.ts"
import type { ActiveRun } from "./active-run.ts"

/** Notes a task that this process has written: for the turn above it, own work, its session and listeners. */
export function noteCreated(scope: HasActive & HasQueue & HasWritten, task: TaskRecord): void {
  noteChild(scope, task.parentTask)
  scope.queue.own?.add(task.id)
  scope.written.sessions.note(task.session)
  scope.written.onTask(task, 0)
}

/**
 * A task was written below this one. The turn above remembers it: between them may be calls in the foreground, which no
 * record leads to.
 */
function noteChild(scope: HasActive, parentTask: TaskId | null | undefined): void {
  for (let id = parentTask; id; ) {
    const above: ActiveRun | undefined = scope.active.get(id)
    if (above && isTurn(above) && parentTask) (above.parentsOfTasks ??= new Set()).add(parentTask)
    id = above?.parentTask
  }
}
