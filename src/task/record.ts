import type { JsonObject, JsonValue } from "../base/json.ts"
import type { TaskFailure } from "./event.ts"
import type { GroupId, MessageId, SessionId, TaskId, WorkerId, WorkspaceId } from "./id.ts"
import type { Patch } from "./patch.ts"
import type { Progress, Usage } from "./progress.ts"
import type { Stop, Stopper, Survivors } from "./stop.ts"
import type { Wait } from "./wait.ts"

export const TASK_KINDS = ["tool", "agent", "workflow", "turn"] as const
export type TaskKind = (typeof TASK_KINDS)[number]

/** The kinds that lists show. A turn is the conversation itself. */
export const WORK_KINDS = ["tool", "agent", "workflow"] as const satisfies readonly TaskKind[]

/** When a task is stopped although nobody asked: see `GLOSSARY.md`. */
export const LIFETIMES = ["turn", "session", "runtime", "forever"] as const
export type Lifetime = (typeof LIFETIMES)[number]

export const NOTIFY_MODES = ["wake", "next_turn", "silent"] as const
export type NotifyMode = (typeof NOTIFY_MODES)[number]

/** Null: no limit of its own. */
export interface TaskLimits {
  readonly timeoutMs: number | null
  readonly tokens: number | null
  readonly costMicros: number | null
  readonly outputBytes: number | null
}

/** The step of a run that asked for a task. At most one task exists per asking step. */
export interface AskingStep {
  readonly taskId: TaskId
  readonly run: number
  readonly key: string
}

/**
 * Fields given when a task is made. Operations change few of them later: input, metadata, and those that
 * `CHANGEABLE_COLUMNS` in `engine/rules/rows/task-row.ts` names.
 */
export interface TaskDetails {
  readonly id: TaskId
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly parentTask: TaskId | null
  readonly parentMessage: MessageId | null
  readonly batch: string | null
  readonly group: GroupId | null
  readonly kind: TaskKind
  readonly plugin: string
  readonly tool: string
  readonly model: string | null
  /**
   * The folder a worker must have to run the task, as an absolute path. Null if the task names none, or its folder was
   * unknown.
   */
  readonly folder: string | null
  readonly title: string
  /**
   * Redacted. When `inputHeldBy` is set the raw input held a secret, and only that worker, which has it in memory, can
   * run it.
   */
  readonly input: JsonValue
  readonly inputHeldBy: WorkerId | null
  readonly metadata: JsonObject
  readonly lifetime: Lifetime
  /** Higher runs first. */
  readonly priority: number
  readonly notify: NotifyMode
  readonly limits: TaskLimits
  readonly idempotencyKey: string | null
  readonly askedBy: AskingStep | null
  /** 0 for a task without a parent task, else one more than its parent's depth. */
  readonly depth: number
  readonly traceId: string | null
}

/** The details of a task whose caller gives none of them. */
export const PLAIN_DETAILS = {
  session: null,
  parentTask: null,
  parentMessage: null,
  batch: null,
  group: null,
  model: null,
  folder: null,
  inputHeldBy: null,
  metadata: {},
  lifetime: "runtime",
  priority: 0,
  notify: "wake",
  limits: { timeoutMs: null, tokens: null, costMicros: null, outputBytes: null },
  idempotencyKey: null,
  askedBy: null,
  depth: 0,
  traceId: null,
} as const satisfies Partial<TaskDetails>

/** The numbers of the last run that stay when its status changes. */
export interface RunCourse {
  readonly run: number
  /** Grows with each claim of a run. A write under an older fence is refused. */
  readonly fence: number
  readonly queuedAt: number
  readonly startedAt: number | null
  /** Time this run has spent running, up to the last time it left `running`. */
  readonly ranMs: number
}

/** Fields that depend on the status. */
export type RunState =
  | { readonly status: "queued"; readonly availableAt: number }
  | { readonly status: "running"; readonly worker: WorkerId }
  | { readonly status: "waiting"; readonly wait: Wait }
  | { readonly status: "stopping"; readonly worker: WorkerId; readonly stop: Stop }
  | { readonly status: "completed"; readonly endedAt: number; readonly patch: Patch }
  | {
      readonly status: "failed"
      readonly endedAt: number
      readonly failure: TaskFailure
      readonly patch: Patch | null
    }
  | {
      readonly status: "cancelled" | "timed_out"
      readonly endedAt: number
      readonly stop: Stop
      readonly survivors: Survivors
      /** The patch that the work handed back although it was stopped. */
      readonly patch: Patch | null
    }
  | {
      readonly status: "interrupted"
      readonly endedAt: number
      readonly by: Stopper
      readonly failure: TaskFailure
    }

/** One execution, as the lifecycle sees it. */
export interface Run {
  readonly course: RunCourse
  readonly state: RunState
}

/** Fields that change while a task lives, in any status. */
export interface TaskCourse extends RunCourse {
  readonly createdAt: number
  readonly lastSequence: number
  readonly progress: Progress | null
  readonly usage: Usage
  readonly resumeCount: number
  readonly retrievedAt: number | null
  /** True once a task or a turn was created below it, whether or not that one is still there. */
  readonly hasChildren: boolean
  /** When the task was stripped of its input, payload and output. */
  readonly strippedAt: number | null
}

export type TaskRecord = TaskDetails & TaskCourse & RunState

/** A task as lists show it, without the fields that may be large. */
export type TaskSummary = Omit<TaskDetails, "input" | "metadata"> & TaskCourse & WithoutPatch<RunState>

type WithoutPatch<State> = State extends RunState ? Omit<State, "patch"> : never

/**
 * The plugin on the records of turns, gates and questions. No plugin can have this name, since names begin with a
 * letter.
 */
export const RUNTIME_PLUGIN = "#runtime"

/** True for a gate or a question, which waits for a person and is not work that goes on. */
export function isAskedOfPerson({ plugin, kind }: Pick<TaskDetails, "plugin" | "kind">): boolean {
  return plugin === RUNTIME_PLUGIN && kind !== "turn"
}
