import type { Runtime } from "../app.ts"
import type { TaskId } from "./format.ts"
import { isAwaited, openQuestions } from "./inbox.ts"

/** What an agent says of itself when it has nothing left to do but to hear how its own tasks end. */
const WAITING_FOR_TASKS = "waiting for tasks"
const LIVE = ["queued", "running", "waiting", "stopping"] as const

/**
 * Those that nothing but a person's answer brings on: they ask, somebody below them asks and is waited for, or every task
 * they wait for is such a one.
 */
export async function findBlocked(meanwhile: Pick<Runtime, "engine" | "tasks">): Promise<ReadonlySet<TaskId>> {
  const questions = await openQuestions(meanwhile)
  const blocked = new Set<TaskId>()
  for (const question of questions) {
    blocked.add(question.taskId)
    for (const id of await findAbove(meanwhile, question.taskId)) {
      if (isAwaited(question) || (await isHeldUp(meanwhile, id, blocked))) blocked.add(id)
    }
  }
  return blocked
}

/** The tasks below which it was started, the nearest first. */
export async function findAbove({ engine }: Pick<Runtime, "engine">, id: TaskId): Promise<readonly TaskId[]> {
  const above: TaskId[] = []
  for (let task = await engine.store.task(id); task?.parentTask; task = await engine.store.task(task.parentTask)) {
    above.push(task.parentTask)
  }
  return above
}

async function isHeldUp(
  { engine, tasks }: Pick<Runtime, "engine" | "tasks">,
  id: TaskId,
  blocked: ReadonlySet<TaskId>,
): Promise<boolean> {
  const task = await engine.store.task(id)
  if (task?.kind !== "agent" || task.progress?.phase !== WAITING_FOR_TASKS) return false
  const { items } = await tasks.list({ parentTask: id, statuses: LIVE })
  return items.every((child) => blocked.has(child.id))
}
