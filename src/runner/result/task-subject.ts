import { toErrorMessage } from "../../base/error.ts"
import type { PatternAnswer } from "../../plugin/output.ts"
import type { TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasActive, HasSpool, HasStore, WaitScope } from "../run/scope.ts"
import { waitForTaskOutput } from "./task-output.ts"
import { isAskingBelow, mayBeQuestion, needsAnswer, type WaitSubject } from "./wait-subject.ts"

/** Waits for the ends of `wanted` of these tasks. An end counts even if its task runs again or is removed later. */
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

/** Waits for text that a task prints. If the task ends without printing it, there is nothing more to wait for. */
export function createPatternSubject(
  scope: WaitScope & HasSpool,
  task: TaskRecord,
  pattern: string,
  timeoutMs: number,
): WaitSubject {
  const ofTask = createTaskSubject(scope, [task], 1)
  let found: PatternAnswer | undefined
  let problem: Error | undefined
  let searched: Promise<void> | undefined

  return {
    hear: (wake) => ofTask.hear(wake),
    begin(wake) {
      const stop = new AbortController()
      searched = waitForTaskOutput(scope, task, { pattern, timeoutMs, signal: stop.signal })
        .then(
          (answer) => {
            found = answer
          },
          (error: unknown) => {
            problem = error instanceof Error ? error : new Error(toErrorMessage(error))
          },
        )
        .finally(wake)
      return () => stop.abort()
    },
    async look() {
      // A wait without time still sees what is printed already.
      if (timeoutMs === 0) await searched
      if (problem) throw problem
      const standing = await ofTask.look()
      if (found?.outcome === "matched" || found?.outcome === "ended") return "met"
      return standing === "met" && !found ? null : standing
    },
    read: async () => ({ ...(await ofTask.read()), match: found ?? null }),
  }
}
