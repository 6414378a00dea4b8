import type { TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasActive, HasStore } from "../run/scope.ts"
import { isAskingBelow, mayBeQuestion, needsAnswer, type WaitSubject } from "./wait-subject.ts"

/** So many of these tasks. One that has ended counts, also when it runs again or is removed before the others end. */
export function createTaskSubject(
  scope: HasStore & HasActive,
  found: readonly TaskRecord[],
  wanted: number,
): WaitSubject {
  const { store } = scope
  const tasks = new Map<TaskId, TaskRecord>(found.map((task) => [task.id, task]))
  const unread = new Set<TaskId>(tasks.keys())
  const live = new Set<TaskId>(tasks.keys())

  async function readAgain(id: TaskId): Promise<void> {
    unread.delete(id)
    const task = await store.task(id)
    if (task) tasks.set(id, task)
    if (!task || isTerminal(task.status)) live.delete(id)
  }

  return {
    hear(wake) {
      if (wake.about === "unknown") for (const id of live) unread.add(id)
      else if (wake.about === "task" && live.has(wake.taskId)) unread.add(wake.taskId)
      return unread.size > 0 || mayBeQuestion(wake)
    },
    async look() {
      await Promise.all([...unread].map(readAgain))
      if (tasks.size - live.size >= wanted) return "met"
      const left = [...live].flatMap((id) => tasks.get(id) ?? [])
      return left.some(needsAnswer) || (await isAskingBelow(scope, left)) ? "needs_answer" : null
    },
    read: async () => ({ tasks: [...tasks.values()], group: null }),
  }
}
