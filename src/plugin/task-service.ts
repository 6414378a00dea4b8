import type { JsonObject } from "../base/json.ts"
import type { ArtifactRecord } from "../task/document.ts"
import type { GroupId, MessageId, SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import type { Patch } from "../task/patch.ts"
import type { Progress } from "../task/progress.ts"
import type { AskingStep, Lifetime, NotifyMode, TaskRecord } from "../task/record.ts"
import type { Stopper, Survivors } from "../task/stop.ts"
import type { Page, PageRequest } from "../task/store.ts"
import type { TaskFilter } from "./task-filter.ts"
import type { TaskFailure } from "../task/event.ts"
import type { GroupService } from "./group-service.ts"
import type { OutputChunk, OutputRequest, PatternAnswer, PatternRequest } from "./output.ts"
import type { StopRequest } from "./stop-request.ts"
import type { DurationEstimate, ListedTask, TaskView } from "./task-view.ts"
import type { WaitAnswer, WaitRequest } from "./wait-request.ts"

export type { StopRequest } from "./stop-request.ts"
export type { DurationEstimate, ListedTask, TaskView } from "./task-view.ts"

/** One call of a tool, from any caller. */
export interface ToolCall {
  readonly tool: string
  /** Needed only when two plugins have a tool of that name. */
  readonly plugin?: string
  /** Input that the tool's schema accepts. */
  readonly input: unknown
  /** The tenant: nothing crosses it. Default `default`. */
  readonly workspace?: string
  /** The conversation that the call's result is addressed to. */
  readonly session?: string | null
  /** A task of the same workspace, or a call that runs in the foreground of this process. */
  readonly parentTask?: string | null
  readonly parentMessage?: string | null
  /** Names tasks that were started together. */
  readonly batch?: string | null
  readonly group?: string | null
  /** The model it uses, for `maxConcurrentPerModel`. */
  readonly model?: string | null
  /** One line for people. Default: the tool's own. */
  readonly title?: string
  /** Anything the caller wants to find again, as JSON of at most 16 KiB. */
  readonly metadata?: JsonObject
  /**
   * When the task is stopped although nobody asked: with its turn, its session, at a shutdown, or never. Default: for a
   * tool the configured lifetime, else `runtime`.
   */
  readonly lifetime?: Lifetime
  /** Higher runs first: a whole number of 32 bits. Default 0. */
  readonly priority?: number
  /** How the task's end reaches the session: wakes it, waits for the next turn, or stays silent. Default `wake`. */
  readonly notify?: NotifyMode
  /**
   * The task is stopped once it has run this long; time in the queue does not count. Null: it has no limit. Default: the
   * tool's limit, then the configured one.
   */
  readonly timeoutMs?: number | null
  readonly tokenLimit?: number
  readonly costLimitMicros?: number
  /** How many bytes of the newest output are kept. Default `outputLimitBytes` of the configuration. */
  readonly outputLimitBytes?: number
  /** The task is not started before this delay is over; at most ten years. */
  readonly delayMs?: number
  /** All starts with the same key in a workspace are one task: later starts get that task, whatever their input. */
  readonly idempotencyKey?: string
  /**
   * The step of a run that asks. Its task is created once, in one transaction with the step's end. Refused as
   * `wrong_state` while that run is a call in the foreground, which has no record to write a step for.
   */
  readonly askedBy?: AskingStep
  readonly traceId?: string
  /** How many reports lie between the call and a person's words. Default 0: a person's own turn asks for it. */
  readonly hops?: number
}

/** A call whose ids were checked when it was admitted. */
export interface CheckedCall extends ToolCall {
  readonly workspace?: WorkspaceId
  readonly session?: SessionId | null
  readonly parentTask?: TaskId | null
  readonly parentMessage?: MessageId | null
  readonly group?: GroupId | null
}

/**
 * The answer to a foreground call: exactly one of these, exactly once. `taskId` is set if the answer is the end of a
 * task.
 */
export type Answer =
  | { readonly outcome: "completed"; readonly patch: Patch }
  | {
      readonly outcome: "failed"
      readonly failure: TaskFailure
      readonly patch: Patch | null
      readonly taskId?: TaskId
    }
  | {
      readonly outcome: "cancelled" | "timed_out"
      readonly by: Stopper
      readonly reason: string
      readonly survivors: Survivors
      readonly taskId?: TaskId
    }
  /** The call was promoted and goes on as a task. */
  | { readonly outcome: "promoted"; readonly task: TaskRecord; readonly afterMs: number }

/** Listeners may be asynchronous, and are not waited for. An error of theirs is logged. */
export interface ExecuteOptions {
  /** Receives the call's output while it is in the foreground, redacted. All of it comes before the answer. */
  readonly onOutput?: (text: string) => unknown
  /**
   * Receives the call's progress while it is in the foreground and has no record; redacted, as often as the tool
   * reports it.
   */
  readonly onProgress?: (progress: Progress) => unknown
  /** The call has started a task. */
  readonly onStarted?: (task: TaskId) => unknown
  /** A person is about to be asked whether the call may run, and is asked once this has resolved. */
  readonly onAsked?: () => Promise<void>
  /**
   * Called after the person was asked: the call is allowed, or it will wait for an answer in the inbox. Awaited before
   * the call begins, or its task is written. Returns the step that asks for the call from then on.
   */
  readonly onDecided?: (decision: { readonly isAllowed: boolean }) => Promise<AskingStep | undefined>
  /** The call was admitted and begins. */
  readonly onAdmitted?: () => void
}

/** A call that runs in the foreground until it ends or is promoted. */
export interface Execution {
  readonly taskId: TaskId
  readonly answer: Promise<Answer>
  /** Moves the call to the background now. False if it has its answer already, or its tool cannot be promoted. */
  promote(): Promise<boolean>
  cancel(request?: StopRequest): void
}

export interface SaidTo {
  readonly task: TaskRecord
  readonly how: "steered" | "resumed"
}

/**
 * The commands over tasks, one implementation for every front end and vocabulary. Ids may be any unambiguous prefix.
 */
export interface TaskService {
  execute(call: ToolCall, options?: ExecuteOptions): Execution
  start(call: ToolCall): Promise<TaskRecord>
  /**
   * Registers work that already runs: a promise, or a process of this machine. It cannot be run again after a crash.
   */
  adopt(call: ToolCall, work: Promise<unknown> | { readonly pid: number }): Promise<TaskRecord>
  get(id: string, scope?: string): Promise<TaskView>
  /**
   * `waitMs`: waits at most this long for the end. `consume`: an ended run counts as used. A call within a turn claims
   * the result, which is used once the turn has stored the call's answer.
   */
  result(
    id: string,
    options?: { readonly waitMs?: number; readonly consume?: boolean; readonly signal?: AbortSignal },
    scope?: string,
  ): Promise<TaskView>
  /** Returns once the stop is accepted; a run that had ended already is returned as it is. */
  cancel(id: string, request?: StopRequest, scope?: string): Promise<TaskRecord>
  /** Runs the same input again: for failed, timed_out, interrupted and cancelled tasks. */
  retry(id: string, scope?: string): Promise<TaskRecord>
  /**
   * Another run of a completed agent task, in the same conversation, with a follow-up prompt. Refused as `wrong_state`
   * in any other state, and as `expired` if its conversation was deleted.
   */
  resume(id: string, prompt: string, scope?: string): Promise<TaskRecord>
  /** Says something to an agent: a running one reads it at its next tool boundary, a completed one is resumed. */
  say(id: string, message: string, scope?: string): Promise<SaidTo>
  /** A task that waits gives up its slot meanwhile. */
  waitFor(request: WaitRequest, scope?: string): Promise<WaitAnswer>
  readonly groups: GroupService
  prioritize(id: string, priority: number, scope?: string): Promise<TaskRecord>
  /**
   * Changes the time limit of a live task, wherever it runs; null: none. The time it has run counts. Refused as
   * `wrong_state` once it has ended.
   */
  limit(id: string, timeoutMs: number | null, scope?: string): Promise<TaskRecord>
  list(filter: TaskFilter, page?: Partial<PageRequest>): Promise<Page<ListedTask>>
  output(id: string, request?: OutputRequest, scope?: string): Promise<OutputChunk>
  waitForOutput(id: string, request: PatternRequest, scope?: string): Promise<PatternAnswer>
  /**
   * Reads bytes that a task of the workspace keeps, by their hash, with or without `sha256:`. Refused as `not_found` for
   * any other hash.
   */
  artifact(hash: string, scope?: string): Promise<ArtifactRecord>
  /**
   * Marks the last runs of ended tasks as used; returns how many had not been used before. An id that names no task is passed
   * over, unless none of them does.
   */
  acknowledge(ids: readonly string[], scope?: string): Promise<number>
  /** Removes ended tasks, used or not, that the filter selects; returns how many. */
  clear(filter: TaskFilter): Promise<number>
  /** Removes an ended task, used or not, with its output. False: the task lives, or a new run of it has begun. */
  remove(id: string, scope?: string): Promise<boolean>
  /** Removes ended tasks, or those of one plugin, whose result was used at least this long ago; returns how many. */
  cleanupCompleted(maxAgeMs: number, scope?: string, plugin?: string): Promise<number>
  /** How long such a call usually takes; null if not known. */
  estimate(call: Pick<ToolCall, "tool" | "plugin" | "input" | "workspace">): Promise<DurationEstimate | null>
}
