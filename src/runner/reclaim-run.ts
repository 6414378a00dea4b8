import { isMeanwhileError } from "../base/error.ts"
import type { LifecycleEvent, TaskFailure } from "../task/event.ts"
import { createWaitId, type WorkerId } from "../task/id.ts"
import type { Operation } from "../task/operation.ts"
import type { TaskSummary } from "../task/record.ts"
import type { OnCrash } from "../task/step.ts"
import { type Survivors, toStopEvent } from "../task/stop.ts"
import { beginClaimed } from "./begin-claimed.ts"
import { toSlotKeys } from "./begin-run.ts"
import type { RunnerScope } from "./scope.ts"

/** Marks the question that a crash left behind, so that its answer is understood. */
export const REPEAT_QUESTION = "repeat_after_crash"

/**
 * Decides what becomes of one run whose worker is gone. What a process has done is known from its spool; what code
 * inside the lost process has done is not, so there `onCrash` decides.
 */
export async function reclaimRun(scope: RunnerScope, task: TaskSummary, lost: WorkerId): Promise<void> {
  try {
    if (task.status === "stopping") await finishStop(scope, task)
    else if (task.status === "queued") await apply(scope, task, secretGone())
    else if (task.status === "running") await reclaimRunning(scope, task, lost)
  } catch (error) {
    if (isMeanwhileError(error, "wrong_state") || isMeanwhileError(error, "stale_claim")) return
    throw error
  }
}

async function finishStop(scope: RunnerScope, task: Extract<TaskSummary, { status: "stopping" }>): Promise<void> {
  const survivors = await endProcesses(scope, task)
  const { by, reason } = task.stop
  await apply(scope, task, { type: toStopEvent(by), by, reason, survivors, late: null })
}

async function reclaimRunning(scope: RunnerScope, task: TaskSummary, lost: WorkerId): Promise<void> {
  const tool = findTool(scope, task)
  const found = tool?.reattaches ? await openRun(scope, task).reattach() : null
  if (found === "reattachable") return adopt(scope, task)
  const isHeldElsewhere = task.inputHeldBy === lost
  if (found === "never_ran" || found === "nothing") {
    return apply(scope, task, isHeldElsewhere ? secretGone() : { type: "task.released", reason: "lost_worker" })
  }
  await endProcesses(scope, task)
  if (found === "lost") return apply(scope, task, interrupted("its process ended without leaving an exit code"))
  if (isHeldElsewhere) return apply(scope, task, secretGone())
  await apply(scope, task, toCrashEvent(await decideOnCrash(scope, task, tool?.onCrash ?? "fail"), task))
}

/** A step that was in flight speaks first; between steps the tool does. */
async function decideOnCrash(scope: RunnerScope, task: TaskSummary, onCrash: OnCrash): Promise<OnCrash> {
  const inFlight = (await scope.store.steps(task.id, task.run)).filter((step) => step.state === "started")
  const decisions = inFlight.length > 0 ? inFlight.map((step) => step.onCrash) : [onCrash]
  if (decisions.includes("fail")) return "fail"
  return decisions.includes("ask") ? "ask" : "retry"
}

function toCrashEvent(onCrash: OnCrash, task: TaskSummary): LifecycleEvent {
  switch (onCrash) {
    case "retry":
      return { type: "task.released", reason: "lost_worker" }
    case "fail":
      return interrupted(`it was running when its worker was lost, and ${task.tool} may not be repeated`)
    case "ask":
      return {
        type: "task.waited",
        ranMs: 0,
        wait: {
          id: createWaitId(),
          reason: "person",
          question: {
            kind: REPEAT_QUESTION,
            text: `${task.title} was interrupted. Run it again?`,
            options: [true, false],
          },
          expiresAt: null,
          onExpiry: false,
        },
      }
  }
}

/** Takes a living or ended process over with its full output: the run goes on here under a new fence. */
async function adopt(scope: RunnerScope, task: TaskSummary): Promise<void> {
  const run = { taskId: task.id, run: task.run }
  const pids = openRun(scope, task).pids()
  const [, adopted] = await scope.store.commit([
    { op: "task.apply", run: { ...run, fence: task.fence }, event: { type: "task.released", reason: "adopted" } },
    { op: "task.apply", run, event: { type: "task.started", worker: scope.worker.id } },
    { op: "task.note", run, facts: [{ type: "task.adopted", pids }] },
  ])
  scope.slots.take(toSlotKeys(adopted))
  if (!(await beginClaimed(scope, adopted))) scope.slots.release(toSlotKeys(adopted))
}

async function endProcesses(scope: RunnerScope, task: TaskSummary): Promise<Survivors> {
  return openRun(scope, task).stopAll(scope.config.stopGraceSeconds * 1_000)
}

function openRun(scope: RunnerScope, task: TaskSummary) {
  const outputLimitBytes = task.limits.outputBytes ?? scope.config.outputLimitBytes
  return scope.spool.openRun(task.id, task.run, { outputLimitBytes })
}

function findTool(scope: RunnerScope, task: TaskSummary) {
  try {
    return scope.tools.find(task.tool, task.plugin).tool
  } catch {
    return undefined
  }
}

async function apply(scope: RunnerScope, task: TaskSummary, event: LifecycleEvent): Promise<void> {
  const run = { taskId: task.id, run: task.run, fence: task.fence }
  await scope.store.commit([{ op: "task.apply", run, event }] satisfies readonly Operation[])
}

function interrupted(message: string): LifecycleEvent {
  return { type: "task.interrupted", by: "lost_worker", failure: toFailure("worker_lost", message) }
}

function secretGone(): LifecycleEvent {
  const message = "its input held a secret, which is never stored, and the process that knew it is gone; start it again"
  return { type: "task.interrupted", by: "lost_worker", failure: toFailure("secret_not_kept", message) }
}

function toFailure(code: string, message: string): TaskFailure {
  return { code, message, details: {} }
}
