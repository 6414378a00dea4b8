import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { StopRequest } from "../../plugin/task-service.ts"
import { findBelow } from "../../plugin/task-family.ts"
import type { TaskId } from "../../task/id.ts"
import type { LifecycleEvent } from "../../task/event.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { OperationOf } from "../../task/operation.ts"
import type { TaskRecord, TaskSummary } from "../../task/record.ts"
import { REQUESTERS, toStopEvent } from "../../task/stop.ts"
import type { CancelScope, HasActive, HasClock, HasQueue, HasRedactor, HasStore } from "../run/scope.ts"
import { giveUpEarly, type StopCause, toStopRequested } from "../run/stop-run.ts"
import { readAll } from "../run/task-pages.ts"
import { abortHere, applyStoredStops } from "./stored-stops.ts"

const DEFAULT_REASON = "it was asked to stop"

/**
 * Stops a task wherever it runs, and returns once the stop is accepted. A task that has ended is returned as it is. The
 * same transaction stops what is below the task.
 */
export async function cancelTask(scope: CancelScope, task: TaskRecord, request: StopRequest = {}): Promise<TaskRecord> {
  const cause = toStopCause(scope, request)
  for (let current = task; ; ) {
    if (isTerminal(current.status)) return current
    if (current.status === "stopping") return await watchStop(scope, current)
    try {
      const [stopped] = await scope.store.commit([toStop(scope, current, cause)])
      abortHere(scope, stopped.id, stopped.run, cause)
      // A look that fails costs nothing: the slow one finds the same.
      if (stopped.hasChildren) await applyStoredStops(scope).catch(() => {})
      return await watchStop(scope, stopped)
    } catch (error) {
      if (!isMeanwhileError(error, "wrong_state")) {
        giveUpEarly(scope, current.id)
        throw error
      }
      const reread = await scope.store.task(current.id)
      if (!reread) return current
      current = reread
    }
  }
}

/** Like `cancelTask`, by the id of the task. Undefined when the task is gone. */
export async function cancelById(
  scope: CancelScope,
  id: TaskId,
  request: StopRequest,
): Promise<TaskRecord | undefined> {
  const task = await scope.store.task(id)
  return task && cancelTask(scope, task, request)
}

async function watchStop(scope: HasQueue & HasStore, task: TaskRecord): Promise<TaskRecord> {
  if (task.status === "stopping" || task.hasChildren) await watchStops(scope, [task])
  return task
}

/**
 * Follows stops that were accepted, of these tasks and of what is below them: if the worker of one of the runs is gone, this
 * process ends the run.
 */
export async function watchStops(
  scope: HasQueue & HasStore,
  stopped: readonly Pick<TaskSummary, "id" | "status" | "hasChildren">[],
): Promise<void> {
  const { own } = scope.queue
  if (own) {
    for (const { id, status } of stopped) if (status === "running" || status === "stopping") own.add(id)
    // A stop reaches through tasks and turns that have ended: something below them may still be stopping. If this look fails,
    // what is below is left to the next worker.
    const below = await findBelow((parentTask) => readAll(scope, { parentTask }), stopped).catch(() => [])
    for (const { id, status } of below) if (status === "stopping") own.add(id)
  }
  void scope.queue.resumeOwnWork()
}

export function toStopCause(
  scope: HasRedactor,
  { by = "person", reason = DEFAULT_REASON }: StopRequest,
): Required<StopRequest> {
  if (!REQUESTERS.includes(by)) {
    throw new MeanwhileError("invalid_input", `A stop is asked for by one of ${REQUESTERS.join(", ")}, not ${by}.`, {
      field: "by",
    })
  }
  return { by, reason: scope.redactor.redactText(reason) }
}

export function toStop(
  scope: HasClock & HasActive,
  { id, run, status }: Pick<TaskSummary, "id" | "run" | "status">,
  cause: StopCause,
): OperationOf<"task.apply"> {
  const event: LifecycleEvent =
    status === "running"
      ? toStopRequested(scope, id, run, cause)
      : { type: toStopEvent(cause.by), ...cause, survivors: [], late: null }
  return { op: "task.apply", run: { taskId: id, run }, event }
}
