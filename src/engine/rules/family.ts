import { MeanwhileError } from "../../base/error.ts"
import type { TaskId } from "../../task/id.ts"
import { isTerminal, STOPPED_STATUSES } from "../../task/lifecycle.ts"
import type { StoredTask, Tables } from "./tables.ts"

/**
 * Refuses work below a task that was stopped or has failed. Looks up to the nearest live task: whatever stops one above
 * that has stopped it, too. A turn is only looked through, since what it started outlives it.
 */
export function requireNoneStoppedAbove({ tasks }: Tables, parentTask: TaskId | null): void {
  for (let id = parentTask; id !== null; ) {
    const above = tasks.find(id)
    if (!above) return
    const { kind, parentTask: next } = above.details
    if (kind !== "turn") {
      if (STOPPED_STATUSES.has(above.state.status)) throw stoppedAbove(above)
      if (!isTerminal(above.state.status)) return
    }
    id = next
  }
}

function stoppedAbove({ details: { id, title }, state: { status } }: StoredTask): MeanwhileError {
  const text = `Nothing more can begin below task ${id} (${title}), which is ${status}. Retry that task, or start the work on its own.`
  return new MeanwhileError("wrong_state", text, { taskId: id, status })
}

/** Notes in the parent that it has children, so that the end of a task that has none looks for none. */
export function enterFamily({ tasks }: Tables, parentTask: TaskId | null): void {
  const parent = parentTask === null ? undefined : tasks.find(parentTask)
  if (!parent || parent.course.hasChildren) return
  tasks.saveFacts({ ...parent, course: { ...parent.course, hasChildren: true } })
}

/** Puts tasks that are beside a new task below it: its work began them before it had a record. */
export function takeChildren(tables: Tables, { details: { id, parentTask } }: StoredTask, children: readonly TaskId[]) {
  const { tasks } = tables
  for (const child of children) {
    const found = tasks.find(child)
    const known = found?.details.parentTask
    if (!found || child === id || (known !== parentTask && known !== id)) continue
    if (known !== id) tasks.saveDetails({ ...found, details: { ...found.details, parentTask: id } })
    enterFamily(tables, id)
  }
}
