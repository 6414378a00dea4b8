import type { Bus } from "../task/bus.ts"
import type { TaskId } from "../task/id.ts"
import { type TaskRecord, WORK_KINDS } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"

const MOST_PASSED_OVER = 1_000

export interface NewTasksParts {
  readonly store: Pick<TaskStore, "task">
  readonly bus: Pick<Bus, "subscribe">
  readonly now: () => number
}

/**
 * Reports tasks that concern the reader whenever something happens to them, also tasks that others started: a tool may start tasks
 * beside its own call. A task may be reported several times. Returns what ends it.
 */
export function followNewTasks(
  { store, bus, now }: NewTasksParts,
  concerns: (task: TaskRecord) => Promise<boolean>,
  onTask: (task: TaskRecord) => void,
): () => void {
  const beganAt = now()
  /** Tasks that are being read, turns, and tasks that concern others. */
  const passedOver = new Set<TaskId>()

  async function look(taskId: TaskId): Promise<void> {
    passedOver.add(taskId)
    const task = await store.task(taskId).catch(() => undefined)
    const isPassedOver = task?.kind === "turn" || (task && !(await concerns(task).catch(() => false)))
    if (isPassedOver) return forgetOldest(passedOver)
    passedOver.delete(taskId)
    if (!task || !WORK_KINDS.some((kind) => kind === task.kind)) return
    // A task that ended earlier changes too: when its result is read, or cleared.
    if (!("endedAt" in task) || task.createdAt >= beganAt) onTask(task)
  }

  return bus.subscribe((wake) => {
    if (wake.about === "task" && !passedOver.has(wake.taskId)) void look(wake.taskId)
  })
}

function forgetOldest(ids: Set<TaskId>): void {
  for (const id of ids) {
    if (ids.size <= MOST_PASSED_OVER) return
    ids.delete(id)
  }
}
