import type { TaskRecord } from "../../task/record.ts"
import type { RunnerScope } from "./scope.ts"
import { noteChild } from "../turn/turn-children.ts"

/** A task was written by this process: whoever must know of it is told. */
export function noteCreated(scope: RunnerScope, task: TaskRecord): void {
  noteChild(scope, task.parentTask)
  scope.own?.add(task.id)
  scope.sessionWork.note(task.session)
  scope.onTask(task, 0)
}
