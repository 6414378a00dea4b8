import { MeanwhileError } from "../../base/error.ts"
import type { ToolCall } from "../../plugin/task-service.ts"
import { createTaskId, type TaskId } from "../../task/id.ts"
import type { TaskEntry } from "../../task/operation.ts"
import type { TaskDetails, TaskRecord } from "../../task/record.ts"
import { admit } from "../admit/admission.ts"
import { writeBelow } from "../run/begun-below.ts"
import { enter } from "../run/enter.ts"
import { ensureLease } from "../run/ownership.ts"
import { type Admitted, toDetails, toPolicy } from "../admit/details.ts"
import { toApprovalWait } from "../admit/approval.ts"
import { beginRun, toBackgroundPlan, toSlotKeys, noteCreated } from "../execute/begin-run.ts"
import { requireHopsLeft } from "../admit/child-limits.ts"
import type { ExecuteScope, HasClock, HasQueue, HasRedactor, HasSlots, HasWorker, HasWritten } from "../run/scope.ts"
import type { RunnerScope } from "../admit/scope.ts"

/** Starts a call in the background: at once when a slot is free and nothing is queued, otherwise from the queue. */
export async function start(scope: RunnerScope, call: ToolCall): Promise<TaskRecord> {
  const admitted = await admit(scope, call)
  try {
    requireCapable(admitted)
    requireHopsLeft(scope.admission, admitted.hops, admitted.tool)
    return await createTask(scope, admitted)
  } finally {
    admitted.settle?.()
  }
}

function requireCapable(admitted: Admitted): void {
  if (toPolicy(admitted.tool, admitted.input).mode === "never") {
    throw new MeanwhileError(
      "not_background_capable",
      `${admitted.tool.name} cannot run in the background. Call it in the foreground: its background policy is "never".`,
      { tool: admitted.tool.name },
    )
  }
}

/**
 * A crash before the commit: nothing was started. After it: the task is in the store, queued or claimed by a worker that
 * is gone, and the next start takes care of it.
 */
export async function createTask(scope: ExecuteScope, admitted: Admitted, id = createTaskId()): Promise<TaskRecord> {
  try {
    return await enter(scope, () => writeTask(scope, admitted, id), admitted.call)
  } finally {
    admitted.settle?.()
  }
}

async function writeTask(scope: ExecuteScope, admitted: Admitted, id: TaskId): Promise<TaskRecord> {
  await ensureLease(scope)
  const { call, tool, input } = admitted
  const details = toDetails(scope, admitted, id)
  const slot = toSlotKeys(details)
  const mustWait = admitted.approval !== undefined || Boolean(call.delayMs) || scope.active.isClosing
  const isTaken = !mustWait && !scope.queue.hint.mayHaveQueued && scope.slots.tryTake(slot)
  if (!isTaken && !mustWait) scope.queue.hint.raise()
  const entry = toEntry(scope, admitted, isTaken)
  scope.queue.own?.add(id)
  try {
    const asking = call.askedBy && { askingStepResult: { taskId: id } }
    const { task, created } = await writeBelow(scope, admitted.above, details, (placed) => [
      { op: "task.create", details: placed, entry, ...asking },
    ])
    if (created) noteCreated(scope, task)
    if (!created) {
      requireSameTool(task, details)
      giveBack(scope, id, isTaken ? slot : null)
    } else if (isTaken) beginRun(scope, toBackgroundPlan(task, tool, input))
    return task
  } catch (error) {
    giveBack(scope, id, isTaken ? slot : null)
    throw error
  }
}

function toEntry(scope: HasClock & HasRedactor & HasWorker, { approval, call }: Admitted, isTaken: boolean): TaskEntry {
  if (approval) return { as: "waiting", wait: toApprovalWait(scope, approval) }
  if (isTaken) return { as: "running", worker: scope.worker.id }
  return { as: "queued", ...(call.delayMs && { delayMs: Math.ceil(call.delayMs) }) }
}

/** A key or a step stands for one call. If its task is of another tool, that result would be taken for this call's. */
function requireSameTool(known: TaskRecord, { plugin, tool }: TaskDetails): void {
  if (known.plugin === plugin && known.tool === tool) return
  throw new MeanwhileError(
    "invalid_input",
    `The key or step of this call of ${plugin}/${tool} belongs to task ${known.id}, which is one of ${known.plugin}/${known.tool}. Give each call its own.`,
    { taskId: known.id },
  )
}

function giveBack(
  scope: HasSlots & HasQueue & HasWritten,
  id: TaskId,
  slot: ReturnType<typeof toSlotKeys> | null,
): void {
  scope.written.heldInputs.delete(id)
  scope.queue.own?.remove(id)
  if (slot) scope.slots.release(slot)
}
