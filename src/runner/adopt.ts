import { MeanwhileError } from "../base/error.ts"
import { toJson } from "../base/json.ts"
import type { ToolCall } from "../plugin/task-service.ts"
import { createTaskId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"
import { admit } from "./admission.ts"
import { beginRun, toBackgroundPlan, toSlotKeys } from "./begin-run.ts"
import { toDetails } from "./details.ts"
import { type Outcome, toFailedOutcome, toOutcome } from "./outcome.ts"
import { watchForeignProcess } from "./foreign-process.ts"
import type { RunnerScope } from "./scope.ts"

/** Registers work that already runs, under the name of the tool it belongs to. It takes a slot even when none is free. */
export async function adopt(
  scope: RunnerScope,
  call: ToolCall,
  work: Promise<unknown> | { readonly pid: number },
): Promise<TaskRecord> {
  const admitted = await admit(scope, call)
  const foreign = "pid" in work ? watchForeignProcess(work.pid, scope.clock) : null
  if (foreign === undefined) {
    throw new MeanwhileError("invalid_input", "There is no such process to adopt. Give the pid of one that runs.")
  }
  const details = toDetails(scope, admitted, createTaskId())
  const [{ task, created }] = await scope.store.commit([
    {
      op: "task.create",
      details,
      entry: { as: "running", worker: scope.worker.id },
      ...(foreign && { facts: [{ type: "task.adopted", pids: [foreign.pid] }] as const }),
    },
  ])
  if (!created) return task
  scope.slots.take(toSlotKeys(task))
  const plan = toBackgroundPlan(task, admitted.tool, admitted.input)
  const active = beginRun(scope, { ...plan, work: settle(scope, foreign ? foreign.ended : (work as Promise<unknown>)) })
  foreign?.stopOn(active.processAbort.signal, scope.config.stopGraceSeconds * 1_000)
  return task
}

async function settle(scope: RunnerScope, work: Promise<unknown>): Promise<Outcome> {
  try {
    return toOutcome(scope.redactor, toJson(await work))
  } catch (error) {
    return toFailedOutcome(scope.redactor, error)
  }
}
