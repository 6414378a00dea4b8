import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { StopRequest } from "../../plugin/task-service.ts"
import type { TaskId } from "../../task/id.ts"
import type { LifecycleEvent } from "../../task/event.ts"
import { isTerminal, STOPPABLE_STATUSES } from "../../task/lifecycle.ts"
import type { OperationOf } from "../../task/operation.ts"
import type { TaskRecord, TaskSummary } from "../../task/record.ts"
import { REQUESTERS, toStopEvent } from "../../task/stop.ts"
import type { CancelScope, HasActive, HasClock, HasConfig, HasQueue, HasRedactor, HasStore } from "../run/scope.ts"
import { abortRun, giveUpEarly, type StopCause, toStopRequested } from "../run/stop-run.ts"
import { readAll } from "../run/task-pages.ts"

const DEFAULT_REASON = "it was asked to stop"

/**
 * Stops a task wherever it runs, and returns once the stop is accepted. A task that has ended is returned as it is. An
 * agent that nobody runs ends in one transaction with its turns.
 */
export async function cancelTask(scope: CancelScope, task: TaskRecord, request: StopRequest = {}): Promise<TaskRecord> {
  const cause = toStopCause(scope, request)
  for (let current = task; ; ) {
    if (isTerminal(current.status)) return current
    if (current.status === "stopping") return watchStop(scope, current)
    try {
      const turns = await findTurnsBelow(scope, current)
      const [stopped] = await scope.store.commit([
        toStop(scope, current, cause),
        ...turns.map((turn) => toStop(scope, turn, AGENT_ENDED)),
      ])
      abortHere(scope, stopped.id, stopped.run, cause)
      for (const { id, run } of turns) abortHere(scope, id, run, AGENT_ENDED)
      return watchStop(scope, stopped)
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

/** Follows an accepted stop: if the worker of the run is gone, this process ends the run. */
function watchStop(scope: HasQueue, task: TaskRecord): TaskRecord {
  if (task.status === "stopping") {
    scope.queue.own?.add(task.id)
    void scope.queue.resumeOwnWork()
  }
  return task
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

/** Aborts a run if it runs in this process. */
export function abortHere(scope: HasClock & HasConfig & HasActive, id: TaskId, run: number, cause: StopCause): void {
  const active = scope.active.get(id)
  if (active?.run === run) abortRun(scope, active, cause)
}

/** The cause of the stop of a turn whose agent has ended. */
export const AGENT_ENDED = { by: "lifetime", reason: "the agent whose turn it is has ended" } as const

/** The statuses of a live task that no worker has now. */
export const RESTING = ["queued", "waiting"] as const

/** The live turns of an agent that nobody runs, which end with it. A worker that runs an agent ends the turns itself. */
export async function findTurnsBelow(
  scope: HasStore,
  { id, status, fence }: Pick<TaskSummary, "id" | "status" | "fence">,
): Promise<readonly TaskSummary[]> {
  // A task that has not begun has no turns below it.
  if (status === "running" || fence === 0) return []
  return readAll(scope, { parentTask: id, kinds: ["turn"], statuses: STOPPABLE_STATUSES })
}
