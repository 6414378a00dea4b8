import type { TaskRecord } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"

/** The tasks below which this one was started, the nearest first. A parent that was removed ends the line. */
export async function findAncestors(
  store: Pick<TaskStore, "task">,
  { parentTask }: Pick<TaskRecord, "parentTask">,
): Promise<readonly TaskRecord[]> {
  const ancestors: TaskRecord[] = []
  for (let id = parentTask; id !== null; ) {
    const task = await store.task(id)
    if (!task) break
    ancestors.push(task)
    id = task.parentTask
  }
  return ancestors
}
