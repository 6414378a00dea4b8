import { createNewestMap } from "../base/newest-map.ts"
import type { Bus } from "../task/bus.ts"
import type { TaskId } from "../task/id.ts"
import { type TaskRecord, WORK_KINDS } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"

const MOST_PASSED_OVER = 1_000

/**
 * Reports tasks that concern the reader whenever something happens to them, also tasks that others started: a tool may
 * start tasks beside its own call. A task may be reported several times. Returns a function that ends this.
 */
export function followNewTasks(
  { store, bus, now }: { readonly store: Pick<TaskStore, "task">; readonly bus: Bus; readonly now: () => number },
  concerns: (task: TaskRecord) => Promise<boolean>,
  onTask: (task: TaskRecord) => void,
): () => void {
  const beganAt = now()
  /** Tasks that are being read, turns, and tasks that concern others. */
  const passedOver = createNewestMap<TaskId, true>(MOST_PASSED_OVER)

  async function look(taskId: TaskId): Promise<void> {
    passedOver.set(taskId, true)
    const task = await store.task(taskId).catch(() => undefined)
    if (task?.kind === "turn" || (task && !(await concerns(task).catch(() => false)))) return
    passedOver.delete(taskId)
    if (!task || !WORK_KINDS.some((kind) => kind === task.kind)) return
    // A task that ended earlier changes too: when its result is read, or cleared.
    if (!("endedAt" in task) || task.createdAt >= beganAt) onTask(task)
  }

  return bus.subscribe((wake) => {
    if (wake.about === "task" && !passedOver.get(wake.taskId)) void look(wake.taskId)
  })
}
