import type { ToolCall } from "../../plugin/task-service.ts"
import { createTaskId, type TaskId } from "../../task/id.ts"
import type { OperationOf } from "../../task/operation.ts"
import type { TaskDetails, TaskRecord } from "../../task/record.ts"
import { admit } from "../admit/admission.ts"
import { writeBelow } from "../run/begun-below.ts"
import { enter } from "../run/enter.ts"
import { type Admitted, toDetails } from "../admit/details.ts"
import { requireNoApproval } from "../admit/approval.ts"
import { beginRun, toBackgroundPlan, toSlotKeys, noteCreated } from "../execute/begin-run.ts"
import { toFailedOutcome, toOutcome } from "../execute/end-run.ts"
import { ensureLease } from "../run/ownership.ts"
import type { Outcome } from "../run/active-run.ts"
import type { ExecuteScope, HasRedactor, HasWorker, HasWritten } from "../run/scope.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { type ForeignProcess, watchForeignProcess } from "./foreign-process.ts"

const ADOPTED_STEP = "adopted"

/**
 * Registers work that already runs, under the name of the tool it belongs to. The task takes a slot even when none is
 * free.
 */
export async function adopt(
  scope: RunnerScope,
  call: ToolCall,
  work: Promise<unknown> | { readonly pid: number },
): Promise<TaskRecord> {
  // The work may reject before its task is written; the task then fails with that error.
  if (!("pid" in work)) work.catch(() => {})
  const admitted = await admit(scope, call)
  try {
    requireNoApproval(admitted)
    return await enter(scope, () => adoptAdmitted(scope, admitted, work))
  } finally {
    admitted.settle?.()
  }
}

async function adoptAdmitted(
  scope: ExecuteScope,
  admitted: Admitted,
  work: Promise<unknown> | { readonly pid: number },
): Promise<TaskRecord> {
  const foreign = "pid" in work ? watchForeignProcess(work.pid, scope.clock) : null
  const id = createTaskId()
  try {
    const { task, created } = await writeAdopted(scope, admitted, id, foreign)
    if (created) beginAdopted(scope, admitted, task, foreign ?? (work as Promise<unknown>))
    else giveBack(scope, id, foreign)
    return task
  } catch (error) {
    giveBack(scope, id, foreign)
    throw error
  }
}

/**
 * Writes the task in one commit, with one step that stays in flight until the run ends. So no worker that reclaims the
 * run takes it for work that its tool could begin again, however soon this process dies.
 */
async function writeAdopted(scope: ExecuteScope, admitted: Admitted, id: TaskId, foreign: ForeignProcess | null) {
  const asked = toDetails(scope, admitted, id)
  await ensureLease(scope)
  return writeBelow(scope, admitted.above, asked, (details) => [toCreation(scope, details, foreign)])
}

function toCreation(
  scope: HasWorker,
  details: TaskDetails,
  foreign: ForeignProcess | null,
): OperationOf<"task.create"> {
  return {
    op: "task.create",
    details,
    entry: { as: "running", worker: scope.worker.id },
    steps: [{ key: ADOPTED_STEP, onCrash: "fail", state: "started" }],
    ...(foreign && { facts: [{ type: "task.adopted", pids: [foreign.pid] }] as const }),
    ...(details.askedBy && { askingStepResult: { taskId: details.id } }),
  }
}

function beginAdopted(
  scope: ExecuteScope,
  admitted: Admitted,
  task: TaskRecord,
  work: ForeignProcess | Promise<unknown>,
): void {
  noteCreated(scope, task)
  scope.slots.take(toSlotKeys(task))
  const plan = toBackgroundPlan(task, admitted.tool, admitted.input)
  const active = beginRun(scope, { ...plan, work: settle(scope, "pid" in work ? work.ended : work) })
  if (!("pid" in work)) return
  const { signal } = active.control.processAbort
  work.stopOn(signal, scope.config.stopGraceSeconds * 1_000, (survivors) => active.control.survivors.push(...survivors))
  void active.ended.promise.then(() => work.release())
}

function giveBack(scope: HasWritten, id: TaskId, foreign: ForeignProcess | null): void {
  scope.written.heldInputs.delete(id)
  foreign?.release()
}

async function settle(scope: HasRedactor, work: Promise<unknown>): Promise<Outcome> {
  try {
    return toOutcome(scope.redactor, await work)
  } catch (error) {
    return toFailedOutcome(scope.redactor, error)
  }
}
