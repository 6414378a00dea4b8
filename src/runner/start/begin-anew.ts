import { MeanwhileError } from "../../base/error.ts"
import type { CheckedCall } from "../../plugin/task-service.ts"
import { ownFields } from "../../plugin/input-schema.ts"
import type { TaskRecord } from "../../task/record.ts"
import { admit } from "../admit/admission.ts"
import { enter } from "../run/enter.ts"
import { type Admitted, toDetails } from "../admit/details.ts"
import { requireNoApproval, toApprovalWait } from "../admit/approval.ts"
import { toHops, withHops } from "../run/hops.ts"
import type { AdmitScope, DetailsScope } from "../admit/scope.ts"
import type { CancelScope, HasActive, HasClock, HasQueue, HasStore, HasWritten } from "../run/scope.ts"

/** Begins another run of a task. */
export interface BeginScope extends AdmitScope, DetailsScope, HasQueue, HasClock {}

export interface NextRun {
  readonly reason: "retry" | "resume"
  readonly input: unknown
  /** How many reports lie between the request and a person's words. */
  readonly hops: number
}

/**
 * Begins another run of a task that has ended. Hooks, permission and limits may refuse it like any call. A retry that
 * needs an approval waits in the inbox; a resumed agent cannot.
 */
export async function beginAnew(scope: BeginScope, task: TaskRecord, next: NextRun): Promise<TaskRecord> {
  const admitted = await admit(scope, await toCall(scope, task, next.input))
  try {
    if (next.reason === "resume") requireNoApproval(admitted)
    scope.written.sessions.note(task.session)
    return await enter(scope, () => write(scope, task, admitted, next))
  } finally {
    admitted.settle?.()
  }
}

/** The input of the last run, with its secrets. Throws when these are not known here, or when the input was stripped. */
export function requireInput(scope: HasWritten, task: TaskRecord): unknown {
  if (task.inputHeldBy !== null && !scope.written.heldInputs.has(task.id)) {
    const message = "Its input held a secret, which is never stored. Start it again with the secret."
    throw new MeanwhileError("secret_not_kept", message)
  }
  if (task.strippedAt !== null) {
    const message = `The input of task ${task.id} was cleared away: start it again with its input.`
    throw new MeanwhileError("wrong_state", message, { status: task.status })
  }
  return scope.written.heldInputs.get(task.id) ?? task.input
}

/** The call as hooks and permission see it. A parent whose record is gone has no limits left to keep. */
async function toCall(scope: HasStore & HasActive, task: TaskRecord, input: unknown): Promise<CheckedCall> {
  const { tool, plugin, workspace, session, model, parentTask } = task
  const hasParent = parentTask !== null && (scope.active.has(parentTask) || (await scope.store.task(parentTask)))
  return { tool, plugin, input, workspace, session, model, parentTask: hasParent ? parentTask : null }
}

/** A crash before the commit: nothing happened. After it: the run is in the queue or in the inbox. */
async function write(
  scope: DetailsScope & HasStore & HasQueue & HasClock,
  task: TaskRecord,
  admitted: Admitted,
  next: NextRun,
): Promise<TaskRecord> {
  const { reason, hops } = next
  const held = scope.written.heldInputs.get(task.id)
  try {
    const [begun] = await scope.store.commit([
      {
        op: "task.begin_run",
        taskId: task.id,
        afterRun: task.run,
        reason,
        // Reports that follow from one another are counted, also when the same task runs again for each of them.
        ...(hops > toHops(task.metadata) && { metadata: withHops(task.metadata, hops) }),
        ...(admitted.approval && { wait: toApprovalWait(scope, admitted.approval) }),
        ...toInputOf(scope, task, admitted, next),
      },
    ])
    scope.queue.own?.add(task.id)
    scope.written.onTask(begun, task.lastSequence)
    scope.queue.nudge()
    return begun
  } catch (error) {
    if (held === undefined) scope.written.heldInputs.delete(task.id)
    else scope.written.heldInputs.set(task.id, held)
    throw error
  }
}

/**
 * The changed fields if a follow-up, a hook or the tool itself gave the task another input, which may hold a secret or no
 * longer does.
 */
function toInputOf(scope: DetailsScope, task: TaskRecord, admitted: Admitted, { reason, input: asked }: NextRun) {
  const { heldInputs } = scope.written
  const isUnchanged = admitted.call.input === asked && ownFields(admitted.tool.input).size === 0
  // This worker may have another id by now, and the task is offered only to the worker that holds the input.
  if (reason === "retry" && isUnchanged) return { inputHeldBy: heldInputs.has(task.id) ? scope.worker.id : null }
  heldInputs.delete(task.id)
  const { input, inputHeldBy, folder, title } = toDetails(scope, admitted, task.id)
  // A follow-up is another request, so it has another title.
  return { input, inputHeldBy, folder, ...(reason === "resume" && { title }) }
}

const RETRYABLE: ReadonlySet<string> = new Set(["failed", "timed_out", "interrupted", "cancelled"])

/** Runs the same input again, as another run, once a person has allowed it where that is needed. */
export async function retryTask(scope: BeginScope & CancelScope, task: TaskRecord, hops = 0): Promise<TaskRecord> {
  requireRetryable(task)
  return beginAnew(scope, task, { reason: "retry", input: requireInput(scope, task), hops })
}

function requireRetryable(task: TaskRecord): void {
  if (task.kind === "turn") {
    throw new MeanwhileError(
      "wrong_state",
      "A turn is not retried as a task: take it again in its conversation, or send the message again.",
      { status: task.status },
    )
  }
  if (!RETRYABLE.has(task.status)) {
    throw new MeanwhileError(
      "wrong_state",
      `Task ${task.id} is ${task.status}: only failed, timed out, interrupted and cancelled tasks can be retried.`,
      { status: task.status },
    )
  }
}
