import { MeanwhileError } from "../../base/error.ts"
import type { Answer, ExecuteOptions, Execution } from "../../plugin/task-service.ts"
import { createTaskId } from "../../task/id.ts"
import type { ActiveRun, OwnExecution } from "./active-run.ts"
import { isLost } from "./ownership.ts"
import type { HasActive, HasClock, HasConfig } from "./scope.ts"
import { abortRun, GIVE_UP_AFTER_GRACE_MS } from "./stop-run.ts"

interface StopOwnScope extends HasActive, HasClock, HasConfig {}

/**
 * Begins a call that a run makes itself and may wait for. Without a record no store stops it with the run, so the run does:
 * a run that is stopped or has ended begins none, and takes those it has begun along. One that became a task is below
 * the run in the store.
 */
export function executeOwn(
  scope: StopOwnScope,
  active: ActiveRun,
  execute: (options: ExecuteOptions) => Execution,
  options: ExecuteOptions = {},
): Execution {
  const { control, times, steps } = active
  if (control.abort.signal.aborted || times.workedMs !== null) return refuse(active)
  let isAdmitted = false
  const execution = execute({
    ...options,
    onAdmitted() {
      isAdmitted = true
      options.onAdmitted?.()
    },
  })
  const own: OwnExecution = {
    execution,
    isStopped: false,
    isWaitedFor() {
      const run = scope.active.get(execution.taskId)
      // Admitted and not running here: it is a task from the start, which may be in the queue.
      return run ? run.standing.in !== "background" && !isLost(run) : !isAdmitted
    },
  }
  if (!steps.executions) {
    steps.executions = new Set()
    control.abort.signal.addEventListener("abort", () => stopOwn(scope, active), { once: true })
  }
  steps.executions.add(own)
  const forget = (): void => void steps.executions?.delete(own)
  execution.answer.then(forget, forget)
  return execution
}

/** True while a run that ends has executions of its own. A run that was handed back or detached owes them nothing. */
export function hasOwnExecutions(active: ActiveRun): boolean {
  return !isLeft(active) && listOwn(active).length > 0
}

/**
 * Ends the executions of a run whose work is over, before the end of the run is told to anybody. Each of them is given up
 * after its own grace period, and names its survivors; one that does not even do that is a survivor itself.
 */
export async function endOwnExecutions(scope: StopOwnScope, active: ActiveRun): Promise<void> {
  stopOwn(scope, active)
  const timeout = Promise.withResolvers<void>()
  const boundMs = scope.config.stopGraceSeconds * 1_000 + 2 * GIVE_UP_AFTER_GRACE_MS
  const cancelTimer = scope.clock.schedule(boundMs, timeout.resolve)
  await Promise.race([Promise.allSettled(listOwn(active).map(({ execution }) => execution.answer)), timeout.promise])
  cancelTimer()
  for (const { execution } of listOwn(active)) {
    const tool = scope.active.get(execution.taskId)?.call.tool.name ?? "a call"
    active.control.survivors.push({ pid: process.pid, command: `${tool} (inside this process)` })
  }
  active.steps.executions = null
}

/** At a shutdown, those that run are stopped for the same reason as every call in the foreground. */
function stopOwn(scope: StopOwnScope, active: ActiveRun): void {
  if (active.control.isHandedBack) return
  const { stop, survivors } = active.control
  const why = stop ? `was stopped by ${stop.by}: ${stop.reason}` : "has ended"
  const reason = `the run of ${active.call.tool.name} that made the call ${why}`
  for (const own of listOwn(active)) {
    const { execution } = own
    if (own.isStopped) continue
    own.isStopped = true
    execution.answer.then(
      (answer) => {
        if ("survivors" in answer && answer.survivors !== "unknown") survivors.push(...answer.survivors)
      },
      () => {},
    )
    const run = scope.active.get(execution.taskId)
    if (run && stop?.by === "shutdown") abortRun(scope, run, stop)
    else execution.cancel({ by: "parent", reason })
  }
}

function listOwn({ steps }: ActiveRun): readonly OwnExecution[] {
  return [...(steps.executions ?? [])].filter((own) => own.isWaitedFor())
}

const isLeft = (active: ActiveRun): boolean => active.control.isHandedBack || isLost(active)

function refuse({ taskId, control, call }: ActiveRun): Execution {
  const state = control.abort.signal.aborted ? "was stopped" : "has ended"
  const message = `The run of ${call.tool.name} ${state}: it can begin nothing more.`
  const { promise: answer, reject } = Promise.withResolvers<Answer>()
  reject(new MeanwhileError("closed", message, { taskId }))
  // A tool that is being stopped may not look at the answer any more.
  answer.catch(() => {})
  return { taskId: createTaskId(), answer, promote: async () => false, cancel: () => {} }
}
