import { isMeanwhileError } from "../base/error.ts"
import type { TaskId } from "../task/id.ts"
import { TERMINAL_STATUSES } from "../task/lifecycle.ts"
import type { Operation } from "../task/operation.ts"
import type { TaskSummary } from "../task/record.ts"
import type { TaskFilter } from "../task/store.ts"
import type { RunnerScope } from "./scope.ts"

const PAGE_SIZE = 200
const DAY_MS = 24 * 60 * 60 * 1_000

/** Takes away what has been used long enough ago. What nobody has used stays. */
export async function applyRetention(scope: RunnerScope): Promise<void> {
  const now = scope.clock.now()
  const { completedTaskRetentionSeconds, recordRetentionDays } = scope.config
  const strippable = { isStripped: false, consumedBefore: now - completedTaskRetentionSeconds * 1_000 }
  await forEach(scope, strippable, (task) => strip(scope, task.id))
  const removable = { session: null, consumedBefore: now - recordRetentionDays * DAY_MS }
  await forEach(scope, removable, (task) => removeTask(scope, task.id))
}

/** Removes ended tasks that the filter selects, with their output; returns how many. */
export async function removeTasks(scope: RunnerScope, filter: TaskFilter): Promise<number> {
  return forEach(scope, filter, (task) => removeTask(scope, task.id))
}

/** The spool goes first: dying in between leaves a record that says less, never a folder that nobody knows. */
async function removeTask(scope: RunnerScope, taskId: TaskId): Promise<boolean> {
  await scope.spool.remove(taskId)
  scope.heldInputs.delete(taskId)
  return commitUnlessMoved(scope, { op: "task.remove", taskId })
}

async function strip(scope: RunnerScope, taskId: TaskId): Promise<boolean> {
  await scope.spool.remove(taskId)
  scope.heldInputs.delete(taskId)
  return commitUnlessMoved(scope, { op: "task.strip", taskId })
}

/** A task that was retried or removed meanwhile is left alone. */
async function commitUnlessMoved(scope: RunnerScope, operation: Operation): Promise<boolean> {
  try {
    await scope.store.commit([operation])
    return true
  } catch (error) {
    if (isMeanwhileError(error, "wrong_state") || isMeanwhileError(error, "not_found")) return false
    throw error
  }
}

async function forEach(
  scope: RunnerScope,
  filter: TaskFilter,
  act: (task: TaskSummary) => Promise<boolean>,
): Promise<number> {
  let done = 0
  let cursor: string | undefined
  do {
    const page = await scope.store.tasks(
      { statuses: TERMINAL_STATUSES, ...filter },
      { limit: PAGE_SIZE, ...(cursor && { cursor }) },
    )
    const results = await Promise.all(page.items.map(act))
    done += results.filter(Boolean).length
    cursor = page.cursor
  } while (cursor)
  return done
}
