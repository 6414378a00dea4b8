import { isTerminal } from "../../task/lifecycle.ts"
import type { WaitRecord } from "../../task/wait.ts"
import { cancelTask } from "../stop/cancel.ts"
import { acknowledgeTasks } from "../result/use-results.ts"
import type { CancelScope } from "../run/scope.ts"
import { toAskedQuestion } from "./question-wait.ts"

const AT_ONCE = 500

/** Takes questions out of the inbox whose asker has ended without taking them back: a crash came in between. */
export async function withdrawQuestions(scope: CancelScope): Promise<void> {
  const questions = (await scope.store.waits({ isOpen: true })).filter((wait) => toAskedQuestion(wait) !== undefined)
  while (questions.length > 0)
    await Promise.all(questions.splice(0, AT_ONCE).map((question) => withdrawIfLeft(scope, question)))
}

async function withdrawIfLeft(scope: CancelScope, { taskId }: WaitRecord): Promise<void> {
  const task = await scope.store.task(taskId)
  if (!task?.parentTask) return
  const asking = await scope.store.task(task.parentTask)
  if (asking && !isTerminal(asking.status)) return
  const withdrawn = await cancelTask(scope, task, { by: "lifetime", reason: "whoever asked has ended" })
  await acknowledgeTasks(scope, [withdrawn])
}
