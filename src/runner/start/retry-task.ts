import { MeanwhileError } from "../../base/error.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { AdmitScope, DetailsScope } from "../admit/scope.ts"
import type { CancelScope } from "../run/scope.ts"
import { stopTurnsBelow } from "../turn/left-turns.ts"
import { beginAnew, requireInput } from "./begin-anew.ts"

const RETRYABLE: ReadonlySet<string> = new Set(["failed", "timed_out", "interrupted", "cancelled"])

/** The same input again, as another run. It is a call like any other: whoever may refuse a call may refuse this one. */
export async function retryTask(
  scope: CancelScope & DetailsScope & AdmitScope,
  task: TaskRecord,
  hops = 0,
): Promise<TaskRecord> {
  requireRetryable(task)
  await stopTurnsBelow(scope, task)
  return beginAnew(scope, task, { reason: "retry", input: requireInput(scope, task), hops })
}

function requireRetryable(task: TaskRecord): void {
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
}
