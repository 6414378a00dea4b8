import type { Runtime } from "../app.ts"
import type { Task, TaskId } from "./format.ts"

/** The tasks below which it was started, the nearest first. */
export async function findAbove({ engine }: Pick<Runtime, "engine">, id: TaskId): Promise<readonly Task[]> {
  const above: Task[] = []
  let task = await engine.store.task(id)
  while (task?.parentTask) {
    task = await engine.store.task(task.parentTask)
    if (task) above.push(task)
  }
  return above
}
