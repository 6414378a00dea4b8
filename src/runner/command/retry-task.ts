import { MeanwhileError } from "../../base/error.ts"
import type { ToolCall } from "../../plugin/task-service.ts"
import type { OperationOf } from "../../task/operation.ts"
import type { TaskRecord } from "../../task/record.ts"
import { type Admitted, admit } from "../call/admission.ts"
import { requireNoApproval } from "../call/approval.ts"
import { toDetails } from "../call/details.ts"
import { enter } from "../call/enter.ts"
import type { RunnerScope } from "../scope.ts"

const RETRYABLE: ReadonlySet<string> = new Set(["failed", "timed_out", "interrupted", "cancelled"])

/** The same input again, as another run. It is a call like any other: whoever may refuse a call may refuse this one. */
export async function retryTask(scope: RunnerScope, task: TaskRecord): Promise<TaskRecord> {
  requireRetryable(scope, task)
  const input = scope.heldInputs.get(task.id) ?? task.input
  const admitted = await admit(scope, await toCall(scope, task, input))
  try {
    requireNoApproval(admitted)
    return await enter(scope, () => beginAnew(scope, task, admitted, input))
  } finally {
    admitted.settle?.()
  }
}

function requireRetryable(scope: RunnerScope, task: TaskRecord): void {
  if (task.kind === "turn") {
    throw new MeanwhileError("wrong_state", "A turn is not retried: send the message again.", { status: task.status })
  }
  if (!RETRYABLE.has(task.status)) {
    throw new MeanwhileError(
      "wrong_state",
      `Task ${task.id} is ${task.status}: only failed, timed_out, interrupted and cancelled tasks can be retried.`,
      { status: task.status },
    )
  }
  if (task.inputHeldBy !== null && !scope.heldInputs.has(task.id)) {
    throw new MeanwhileError(
      "secret_not_kept",
      "Its input held a secret, which is never stored. Start it again with the secret.",
    )
  }
  if (task.strippedAt !== null) {
    const message = `The input of task ${task.id} was cleared away: start it again with its input.`
    throw new MeanwhileError("wrong_state", message, { status: task.status })
  }
}

/** What others decide by. A parent whose record is gone has no limits left to keep. */
async function toCall(scope: RunnerScope, task: TaskRecord, input: unknown): Promise<ToolCall> {
  const { tool, plugin, workspace, session, model, parentTask } = task
  const hasParent = parentTask !== null && (scope.active.has(parentTask) || (await scope.store.task(parentTask)))
  return { tool, plugin, input, workspace, session, model, parentTask: hasParent ? parentTask : null }
}

async function beginAnew(
  scope: RunnerScope,
  task: TaskRecord,
  admitted: Admitted,
  input: unknown,
): Promise<TaskRecord> {
  const held = scope.heldInputs.get(task.id)
  try {
    const [begun] = await scope.store.commit([
      {
        op: "task.begin_run",
        taskId: task.id,
        afterRun: task.run,
        reason: "retry",
        ...(admitted.call.input === input ? toHolder(scope, task) : toChangedInput(scope, task, admitted)),
      },
    ])
    return begun
  } catch (error) {
    if (held === undefined) scope.heldInputs.delete(task.id)
    else scope.heldInputs.set(task.id, held)
    throw error
  }
}

type InputPart = Pick<OperationOf<"task.begin_run">, "input" | "inputHeldBy">

/** This worker, which may have another id by now: only one that holds the input is offered the task. */
function toHolder(scope: RunnerScope, task: TaskRecord): InputPart {
  return { inputHeldBy: scope.heldInputs.has(task.id) ? scope.worker.id : null }
}

/** A hook gave it another input, which may hold a secret or be rid of one. */
function toChangedInput(scope: RunnerScope, task: TaskRecord, admitted: Admitted): InputPart {
  scope.heldInputs.delete(task.id)
  const { input, inputHeldBy } = toDetails(scope, admitted, task.id)
  return { input, inputHeldBy }
}
