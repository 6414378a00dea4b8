import type { Runtime } from "../../app.ts"
import type { Task, TaskId } from "../format.ts"

const MOST_PASSED_OVER = 1_000

/**
 * Tells of tasks that something happens to, of those that concern this chat, whoever started them: a tool may start some
 * that no call became. Some may be told several times. Returns what ends it.
 */
export function followNewTasks(
  { engine }: Pick<Runtime, "engine">,
  concerns: (task: Task) => Promise<boolean>,
  onTask: (task: Task) => void,
): () => void {
  const beganAt = engine.now()
  /** Those that are looked at now, those that are the conversation itself, and those of others. */
  const passedOver = new Set<TaskId>()

  async function look(taskId: TaskId): Promise<void> {
    passedOver.add(taskId)
    const task = await engine.store.task(taskId).catch(() => undefined)
    const isPassedOver = task?.kind === "turn" || (task && !(await concerns(task).catch(() => false)))
    if (isPassedOver) return forgetOldest(passedOver)
    passedOver.delete(taskId)
    if (!task) return
    // What ended before may change too: somebody reads it, or clears it.
    if (!("endedAt" in task) || task.createdAt >= beganAt) onTask(task)
  }

  return engine.bus.subscribe((wake) => {
    if (wake.about === "task" && !passedOver.has(wake.taskId)) void look(wake.taskId)
  })
}

function forgetOldest(ids: Set<TaskId>): void {
  for (const id of ids) {
    if (ids.size <= MOST_PASSED_OVER) return
    ids.delete(id)
  }
}
