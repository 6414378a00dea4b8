import type { TaskRecord } from "../task/record.ts"
import { parseInput } from "./admission.ts"
import { beginRun, toBackgroundPlan } from "./begin-run.ts"
import { toJournal } from "./journal.ts"
import { toFailedOutcome } from "./outcome.ts"
import type { RunnerScope } from "./scope.ts"

/**
 * Begins a task that this worker has claimed and holds a slot for. A task whose tool is gone, or whose stored input the
 * tool no longer takes, fails instead; false then.
 */
export async function beginClaimed(scope: RunnerScope, task: TaskRecord): Promise<boolean> {
  try {
    const { tool } = scope.tools.find(task.tool, task.plugin)
    const input = parseInput(tool, scope.heldInputs.get(task.id) ?? task.input)
    const journal = task.fence > 1 ? toJournal(await scope.store.steps(task.id, task.run)) : undefined
    beginRun(scope, toBackgroundPlan(task, tool, input, journal))
    return true
  } catch (error) {
    const { failure } = toFailedOutcome(scope.redactor, error)
    const run = { taskId: task.id, run: task.run, fence: task.fence }
    await scope.store.commit([{ op: "task.apply", run, event: { type: "task.failed", failure, patch: null } }])
    return false
  }
}
