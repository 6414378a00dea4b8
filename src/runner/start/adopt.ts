import type { RunningWork } from "../../plugin/background-capable.ts"
import type { ToolCall } from "../../plugin/task-service.ts"
import type { StepElsewhere } from "../../plugin/tool.ts"
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
import type { ActiveRun, Outcome, RunPlan } from "../run/active-run.ts"
import type { ExecuteScope, HasRedactor, HasWorker, HasWritten } from "../run/scope.ts"
import type { RunnerScope } from "../admit/scope.ts"
import { type ForeignProcess, watchForeignProcess } from "./foreign-process.ts"

const ADOPTED_STEP = "adopted"

/**
 * Registers work that already runs, under the name of the tool it belongs to. The task takes a slot even when none is
 * free.
 */
export async function adopt(scope: RunnerScope, call: ToolCall, work: RunningWork): Promise<TaskRecord> {
  // The work may reject before its task is written; the task then fails with that error.
  if (!("pid" in work)) work.catch(() => {})
  const admitted = await admit(scope, call)
  try {
    requireNoApproval(admitted)
    const { tool, input } = admitted
    if (!tool.adoptElsewhere) return await enter(scope, () => adoptHere(scope, admitted, work))
    const step = await tool.adoptElsewhere(work, input)
    return await enter(scope, () => adoptThere(scope, admitted, step))
  } finally {
    admitted.settle?.()
  }
}

/** The work is its plugin's, which is asked for its end: the run begins behind the step that handed the work over. */
async function adoptThere(scope: ExecuteScope, admitted: Admitted, step: StepElsewhere): Promise<TaskRecord> {
  const id = createTaskId()
  const taken = { ...step, onCrash: "retry", state: "finished" } as const
  try {
    const { task, created } = await writeAdopted(scope, admitted, id, { steps: [taken] })
    if (created)
      beginAdopted(scope, admitted, task, { journal: new Map([[step.key, { ...taken, returned: step.result }]]) })
    else giveBack(scope, id, null)
    return task
  } catch (error) {
    giveBack(scope, id, null)
    throw error
  }
}

async function adoptHere(scope: ExecuteScope, admitted: Admitted, work: RunningWork): Promise<TaskRecord> {
  const foreign = "pid" in work ? watchForeignProcess(work.pid, scope.clock) : null
  const id = createTaskId()
  const facts = foreign && ([{ type: "task.adopted", pids: [foreign.pid] }] as const)
  try {
    const { task, created } = await writeAdopted(scope, admitted, id, { steps: [IN_FLIGHT], ...(facts && { facts }) })
    if (!created) giveBack(scope, id, foreign)
    else if (foreign) beginForeign(scope, admitted, task, foreign)
    else beginAdopted(scope, admitted, task, { work: settle(scope, work as Promise<unknown>) })
    return task
  } catch (error) {
    giveBack(scope, id, foreign)
    throw error
  }
}

/** No worker that reclaims the run takes it for work that its tool could begin again, however soon this process dies. */
const IN_FLIGHT = { key: ADOPTED_STEP, onCrash: "fail", state: "started" } as const

type Taken = Pick<OperationOf<"task.create">, "steps" | "facts">

/** Writes the task in one commit, with the steps that it has taken. */
async function writeAdopted(scope: ExecuteScope, admitted: Admitted, id: TaskId, taken: Taken) {
  const asked = toDetails(scope, admitted, id)
  await ensureLease(scope)
  return writeBelow(scope, admitted.above, asked, (details) => [toCreation(scope, details, taken)])
}

function toCreation(scope: HasWorker, details: TaskDetails, taken: Taken): OperationOf<"task.create"> {
  return {
    op: "task.create",
    details,
    entry: { as: "running", worker: scope.worker.id },
    ...taken,
    ...(details.askedBy && { askingStepResult: { taskId: details.id } }),
  }
}

function beginAdopted(
  scope: ExecuteScope,
  admitted: Admitted,
  task: TaskRecord,
  begun: Pick<RunPlan, "work" | "journal">,
): ActiveRun {
  noteCreated(scope, task)
  scope.slots.take(toSlotKeys(task))
  return beginRun(scope, { ...toBackgroundPlan(task, admitted.tool, admitted.input), ...begun })
}

function beginForeign(scope: ExecuteScope, admitted: Admitted, task: TaskRecord, foreign: ForeignProcess): void {
  const active = beginAdopted(scope, admitted, task, { work: settle(scope, foreign.ended) })
  const { signal } = active.control.processAbort
  foreign.stopOn(signal, scope.config.stopGraceSeconds * 1_000, (survivors) =>
    active.control.survivors.push(...survivors),
  )
  void active.ended.promise.then(() => foreign.release())
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
