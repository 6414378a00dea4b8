import type { JsonObject } from "../base/json.ts"
import type { SessionId, TaskId, WaitId, WorkerId } from "./id.ts"
import type { Patch } from "./patch.ts"
import type { Progress, ReportedProgress, Usage } from "./progress.ts"
import type { Stopper, Survivors } from "./stop.ts"
import type { Wait } from "./wait.ts"

/** Why a run ended badly. `code` is a word for programs, `message` a sentence for people. */
export interface TaskFailure {
  readonly code: string
  readonly message: string
  readonly details: JsonObject
}

/**
 * The facts that move a run through its lifecycle. `ranMs` is how long the run has run since its claim, as its worker
 * measured it. Without it wall time counts; the time of a lost worker does not count.
 */
export type LifecycleEvent =
  | { readonly type: "task.started"; readonly worker: WorkerId }
  | { readonly type: "task.waited"; readonly wait: Wait; readonly ranMs?: number }
  | { readonly type: "task.answered"; readonly waitId: WaitId }
  | {
      readonly type: "task.released"
      /** `adopted`: another worker takes over what still runs, in the same transaction. */
      readonly reason: "shutdown" | "lost_worker" | "adopted"
      readonly delayMs?: number
      readonly ranMs?: number
    }
  | {
      readonly type: "task.stop_requested"
      readonly by: Stopper
      readonly reason: string
      readonly ranMs?: number
      /** The time limit that is over. The stop is refused as `wrong_state` if the task has another one by now. */
      readonly limitMs?: number
      readonly parent?: TaskId
    }
  | { readonly type: "task.completed"; readonly patch: Patch; readonly ranMs?: number }
  | {
      readonly type: "task.failed"
      readonly failure: TaskFailure
      readonly patch: Patch | null
      readonly ranMs?: number
    }
  | { readonly type: "task.interrupted"; readonly by: Stopper; readonly failure: TaskFailure }
  | StoppedEvent

/**
 * The end of a stop. For a queued or waiting run, `by` and `reason` are the stop itself; for a stopping run, the stop
 * that was accepted stays. `late` is the patch that the work handed back although it was stopped.
 */
export interface StoppedEvent {
  readonly type: "task.cancelled" | "task.timed_out"
  readonly by: Stopper
  readonly reason: string
  readonly parent?: TaskId
  readonly survivors: Survivors
  readonly late: Patch | null
}

/** The facts that do not change the status. */
export type FactEvent =
  | { readonly type: "task.queued" }
  | { readonly type: "task.promoted"; readonly afterMs: number }
  | { readonly type: "task.adopted"; readonly pids: readonly number[] }
  | { readonly type: "task.progressed"; readonly progress: Progress }
  /** What is done can be used, or decides something: unlike progress, each milestone is kept. */
  | { readonly type: "task.milestone_reached"; readonly reported: ReportedProgress }
  | { readonly type: "task.spent"; readonly usage: Usage }
  | { readonly type: "task.finished_late"; readonly patch: Patch | null }
  | { readonly type: "task.retrieved" }
  /** The time limit was changed. Null: there is none from now on. */
  | { readonly type: "task.limited"; readonly timeoutMs: number | null }
  /** These tasks below it go on although it was stopped or has ended. `count` may exceed the ids that are named. */
  | { readonly type: "task.outlived"; readonly by: readonly TaskId[]; readonly count: number }
  /** The task above it has ended: from now on it is below `to`, and its results are told to `session`. */
  | {
      readonly type: "task.handed_on"
      readonly from: TaskId | null
      readonly to: TaskId | null
      readonly session: SessionId | null
    }
  | { readonly type: "output.dropped"; readonly before: number }
  | { readonly type: "step.started"; readonly key: string }
  | { readonly type: "step.finished"; readonly key: string; readonly completion: number }

/** A lifecycle event as the log keeps it: without the patch, which the record holds. */
export type LoggedLifecycleEvent =
  | Exclude<LifecycleEvent, { type: "task.stop_requested" | "task.completed" | "task.failed" } | StoppedEvent>
  | { readonly type: "task.stop_requested"; readonly by: Stopper; readonly reason: string; readonly parent?: TaskId }
  | { readonly type: "task.completed"; readonly digest: readonly string[] }
  | { readonly type: "task.failed"; readonly failure: TaskFailure }
  | Omit<StoppedEvent, "late">

export type TaskEventBody = LoggedLifecycleEvent | FactEvent

/** A past-tense fact about a task, numbered 1, 2, 3… per task without a gap. */
export interface TaskEvent {
  readonly taskId: TaskId
  readonly sequence: number
  readonly run: number
  readonly at: number
  readonly body: TaskEventBody
}

/** Drops what the record already holds, so that a payload is stored once and deleted with the record. */
export function toLogged(event: LifecycleEvent): LoggedLifecycleEvent {
  switch (event.type) {
    case "task.completed":
      return { type: event.type, digest: event.patch.digest }
    case "task.failed":
      return { type: event.type, failure: event.failure }
    case "task.stop_requested":
      return { type: event.type, by: event.by, reason: event.reason, ...toParent(event) }
    case "task.cancelled":
    case "task.timed_out":
      return { type: event.type, by: event.by, reason: event.reason, ...toParent(event), survivors: event.survivors }
    default:
      return event
  }
}

/** The stopped task above, as far as the event names one. */
export function toParent({ parent }: { readonly parent?: TaskId }): { readonly parent?: TaskId } {
  return parent === undefined ? {} : { parent }
}
