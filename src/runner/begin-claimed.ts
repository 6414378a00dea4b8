import type { Tool } from "../plugin/tool.ts"
import type { TaskRecord } from "../task/record.ts"
import { parseInput } from "./admission.ts"
import { beginRun, toBackgroundPlan } from "./begin-run.ts"
import { toFailedOutcome } from "./outcome.ts"
import type { RunnerScope } from "./scope.ts"

/**
 * Begins a task that this worker has claimed and holds a slot for. A task whose tool is gone, or whose stored input the
 * tool no longer takes, fails instead; false then. One whose process was adopted goes on whatever its input says now:
 * the process was started long ago.
 */
export async function beginClaimed(
  scope: RunnerScope,
  task: TaskRecord,
  { isAdopted = false }: { readonly isAdopted?: boolean } = {},
): Promise<boolean> {
  try {
    const { tool } = scope.tools.find(task.tool, task.plugin)
    const stored = scope.heldInputs.get(task.id) ?? task.input
    const input = isAdopted ? toAdoptedInput(tool, stored) : parseInput(tool, stored)
    beginRun(scope, toBackgroundPlan(task, tool, input))
    return true
  } catch (error) {
    const { failure } = toFailedOutcome(scope.redactor, error)
    const run = { taskId: task.id, run: task.run, fence: task.fence }
    await scope.store.commit([{ op: "task.apply", run, event: { type: "task.failed", failure, patch: null } }])
    return false
  }
}

function toAdoptedInput(tool: Tool, stored: unknown): unknown {
  const parsed = tool.input.safeParse(stored)
  return parsed.success ? parsed.data : stored
}
