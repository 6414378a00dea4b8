import type { Tool } from "../../plugin/tool.ts"
import { NO_USAGE, type Progress, type ReportedProgress, type Usage } from "../../task/progress.ts"
import type { TaskRecord, AskingStep, Lifetime, TaskLimits } from "../../task/record.ts"
import type { Answer, Execution } from "../../plugin/task-service.ts"
import type { Stopper, Survivor } from "../../task/stop.ts"
import type { TaskId, MessageId, SessionId, WorkerId, WorkspaceId } from "../../task/id.ts"
import type { TaskFailure } from "../../task/event.ts"
import type { Patch } from "../../task/patch.ts"
import type { CancelTimer, Clock } from "../../base/clock.ts"
import type { Operation, RunReference } from "../../task/operation.ts"
import type { SlotKeys } from "../limits/slots.ts"
import type { RunSpool } from "../spool/run-spool.ts"
import type { OutputStream } from "../spool/output-stream.ts"
import { beginRunSpan, type RunSpan } from "./trace.ts"
import type { Journal } from "./journal.ts"
import { toHops } from "./hops.ts"

/** Where the call stands between its caller and the store. */
export type Standing =
  /** No record exists: a crash leaves nothing but a spool folder that the next start clears away. */
  | { readonly in: "foreground"; readonly answer: (answer: Answer) => void; readonly promote: () => Promise<boolean> }
  /** The call ended in the foreground and its caller has the answer: nothing is left to promote. */
  | { readonly in: "answered" }
  /** The record is being written. The caller gets the handle as its answer, unless writing fails. */
  | { readonly in: "promotion"; readonly answer: (answer: Answer) => void; readonly written: Promise<boolean> }
  /** The store knows the run, and this process holds it under this fence, as the worker that it was at the claim. */
  | { readonly in: "background"; readonly fence: number; readonly worker: WorkerId | null }
  /** This worker no longer holds the run: what happens here is told to nobody. A null fence: no store knew the run. */
  | { readonly in: "lost"; readonly fence: number | null }

/** Passes a run's output on while somebody watches it. */
export interface OutputFollower {
  /** Passes on what is left and stops. While more may come, what could be the beginning of a secret is held back. */
  finish(state: { readonly isComplete: boolean }): Promise<void>
}

/** Where a call comes from, fixed before its run begins. */
export interface RunOrigin {
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly parentTask: TaskId | null
  readonly parentMessage: MessageId | null
  readonly batch: string | null
  /** How many reports lie between the call and a person's words. */
  readonly hops: number
  /** The depth that the record has, or would have. What the call starts is one deeper. */
  readonly depth: number
  /** The step of another run that asked for the call. */
  readonly askedBy: AskingStep | null
  readonly traceId: string | null
}

/** The call that a run executes, fixed before it begins. */
export interface RunCall {
  readonly plugin: string
  readonly tool: Tool
  readonly input: unknown
  readonly lifetime: Lifetime
  /** The time limit here is the one at the begin of the run. */
  readonly limits: TaskLimits
  /** The input held a secret, which only the process knows that was given the input. */
  readonly isInputHeld?: boolean
}

/** Tasks and turns that a call began while it had no record that they could name. */
export interface BegunBelow {
  readonly children: Set<TaskId>
  /** Creations that are being written. */
  readonly writing: Set<Promise<unknown>>
  /** True once there may be a task below those children that outlives the call. */
  hasTasks: boolean
}

/** A call that the work of a run makes itself, until it has answered. */
export interface OwnExecution {
  readonly execution: Execution
  /** False once it is a task: the store then stops it with the run. */
  isWaitedFor(): boolean
  /** True once it was stopped because the run that made it was, or ended. */
  isStopped: boolean
}

/** The steps and questions of a run, so that the same one is not taken or asked twice, and what it began. */
export interface RunSteps {
  readonly journal: Journal
  /** How often the run has asked each question, by the question's hash. */
  questions: Map<string, number> | null
  /** Null unless it began something while it ran in the foreground. */
  begun: BegunBelow | null
  /** Null unless the run made calls itself. Those that have answered are gone from it. */
  executions: Set<OwnExecution> | null
}

/** Where the output of a run goes. */
export interface RunOutputs {
  /** Opened when it is first needed: most calls print nothing. */
  spool: RunSpool | null
  /** Sends output to the store, if the store keeps output, from the moment it knows the run. */
  stream: OutputStream | null
  /** Passes output on to the caller in the foreground. */
  follower: OutputFollower | null
}

/** How a run is stopped, and what a stop has left. */
export interface RunControl {
  /** The signal that the tool sees. */
  readonly abort: AbortController
  /** Ends the run's processes. For a lost run it aborts only once the store says that the run is over. */
  readonly processAbort: AbortController
  /** Resolves when the run ends here although its work has not: a stop took too long, or the run was lost or detached. */
  readonly abandoned: PromiseWithResolvers<undefined>
  /** `isEarly`: the store does not know of the stop yet. */
  stop: { readonly by: Stopper; readonly reason: string; readonly isEarly?: true } | null
  /**
   * True at a shutdown: an unfinished run goes back to the queue. A call in the foreground is left to the next claim of the
   * turn that made it.
   */
  isHandedBack: boolean
  /** Processes that ended commands left behind, or that a stop could not end. */
  readonly survivors: Survivor[]
}

/** How long a run has taken, and what counts against its limit. */
export interface RunTimes {
  readonly startedMonotonicMs: number
  /** How long the run ran before this worker had it. */
  readonly ranBeforeMs: number
  /** The time limit, which may be changed while the task runs. Null: none. */
  limitMs: number | null
  /** How long the work took here; null until it has ended. The end may be written much later, when the store is away. */
  workedMs: number | null
  /** Time that does not count against the limit, and how many waits stop the time now. */
  rest: { restedMs: number; sinceMonotonicMs: number; waiters: number } | null
  cancelDeadline: CancelTimer | null
}

/** Progress and usage, as they were reported and not yet stored. */
export interface RunNotes {
  progress: Progress | null
  usage: Usage
  unsaved: UnsavedNotes
  cancelSave: CancelTimer | null
}

interface UnsavedNotes {
  progress: boolean
  readonly milestones: readonly ReportedProgress[]
  usage: Usage | null
  droppedBefore: number | null
}

export function noNotes(): UnsavedNotes {
  return { progress: false, milestones: [], usage: null, droppedBefore: null }
}

/** The slot of a run. */
export interface RunSlots {
  held: SlotKeys | null
  /** The slot that was given up while the run waits for others, and how many wait at once. */
  yielded: { readonly slot: SlotKeys; waiters: number } | null
}

/** Listeners: of the caller in the foreground, and of the worker's log. */
export interface RunListeners {
  onOutput: ((text: string) => void) | null
  onProgress: ((progress: Progress) => void) | null
  onStarted: ((task: TaskId) => void) | null
  /** Called with the value of `ended` when the end is written and the slot is still taken. */
  onLeft: ((task: TaskRecord | null) => void) | null
}

/** The part that only turns use. */
export interface TurnState {
  /** Written in one transaction with the end of the run. */
  endOperations: ((run: RunReference) => readonly Operation[]) | null
}

/** One execution in this process. A function that needs one part of it takes that part. */
export interface ActiveRun {
  readonly taskId: TaskId
  readonly run: number
  readonly origin: RunOrigin
  /**
   * The run that made this call in the foreground: the call belongs to that claim, also once the claim is over and this
   * process has taken the same task again. Null: the run is found by its task.
   */
  readonly above: ActiveRun | null
  readonly call: RunCall
  standing: Standing
  /** Null when nobody traces, and for a turn, which has one of its own. */
  readonly span: RunSpan | null
  readonly steps: RunSteps
  readonly output: RunOutputs
  readonly control: RunControl
  readonly times: RunTimes
  readonly notes: RunNotes
  readonly slots: RunSlots
  readonly listeners: RunListeners
  readonly turn: TurnState
  /** The fate of the writes that are under way: the error of the first that failed, if one did. Null: all are decided. */
  undecided: Promise<Error | null> | null
  /** Resolves when nothing more of the run will be written here, with its record if this worker wrote the end. */
  readonly ended: PromiseWithResolvers<TaskRecord | null>
}

/** How the work of a run came out, if nobody stopped it. */
export type Outcome =
  | { readonly succeeded: true; readonly patch: Patch }
  | { readonly succeeded: false; readonly failure: TaskFailure; readonly patch: Patch | null }

/** All that is known of a run before it begins. */
export interface RunPlan {
  readonly taskId: TaskId
  readonly run: number
  readonly origin: RunOrigin
  readonly above?: ActiveRun | null
  readonly call: RunCall
  readonly standing: Standing
  readonly slot: SlotKeys | null
  readonly ranBeforeMs?: number
  readonly usage?: Usage
  /** The run was adopted and its commands had ended in time: its time limit does not count any more. */
  readonly hasEndedInTime?: boolean
  /** Work that runs already, instead of calling the tool. */
  readonly work?: Promise<Outcome>
  /** The steps that the run begins with. Default: none. */
  readonly journal?: Journal
}

export function createActiveRun(clock: Clock, plan: RunPlan): ActiveRun {
  const { taskId, run, origin, above = null, call, standing, slot, ranBeforeMs = 0, usage = NO_USAGE } = plan
  const { journal = new Map() } = plan
  const span = beginRunSpan(plan)
  return {
    taskId,
    run,
    origin: span && origin.traceId === null ? { ...origin, traceId: span.traceId } : origin,
    above,
    call,
    standing,
    span,
    steps: { journal, questions: null, begun: null, executions: null },
    output: { spool: null, stream: null, follower: null },
    control: {
      abort: new AbortController(),
      processAbort: new AbortController(),
      abandoned: Promise.withResolvers(),
      stop: null,
      isHandedBack: false,
      survivors: [],
    },
    times: {
      startedMonotonicMs: clock.monotonic(),
      ranBeforeMs,
      limitMs: call.limits.timeoutMs,
      workedMs: null,
      rest: null,
      cancelDeadline: null,
    },
    notes: {
      progress: null,
      usage,
      unsaved: noNotes(),
      cancelSave: null,
    },
    slots: { held: slot, yielded: null },
    listeners: { onOutput: null, onProgress: null, onStarted: null, onLeft: null },
    turn: { endOperations: null },
    undecided: null,
    ended: Promise.withResolvers(),
  }
}

export function toOrigin(task: TaskRecord): RunOrigin {
  const { workspace, session, parentTask, parentMessage, batch, metadata, depth, askedBy, traceId } = task
  return { workspace, session, parentTask, parentMessage, batch, hops: toHops(metadata), depth, askedBy, traceId }
}

/** How long this worker has had the run, by monotonic time. A whole number, as all times are that a store keeps. */
export function ranMs({ startedMonotonicMs }: RunTimes, clock: Clock): number {
  return Math.round(clock.monotonic() - startedMonotonicMs)
}
