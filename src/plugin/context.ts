import type { JsonObject, JsonValue } from "../base/json.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import type { ArtifactReference } from "../task/patch.ts"
import type { AskingStep, TaskLimits } from "../task/record.ts"
import type { Progress, ReportedProgress, Usage } from "../task/progress.ts"
import type { OnCrash } from "../task/step.ts"
import type { TaskStore } from "../task/store.ts"
import type { DocumentsPort } from "./documents-port.ts"
import type { OutputChunk, OutputRequest } from "./output.ts"
import type { ModelPort } from "./model-port.ts"
import type { PersonPort } from "./person-port.ts"
import type { ProcessPort } from "./process.ts"
import type { SessionsPort } from "./sessions-port.ts"
import type { TaskService } from "./task-service.ts"

/**
 * Calls `effect` if the run is still this worker's, in the same synchronous stretch as the look at its lease: a process
 * that stood still and was taken over in between begins nothing. Where the lease is old, the store is asked first.
 *
 * Contract: rejects with `stale_claim` or the signal's reason, and `effect` was then not called; else settles as `effect`.
 */
export type Act = <Result>(effect: () => Result | Promise<Result>) => Promise<Result>

/** For what no other worker can take over: work without a record, and commands of a person. */
export const actFreely: Act = async (effect) => effect()

export interface StepContext {
  readonly signal: AbortSignal
  /** `task/run/step`: hand it to whatever the step acts on, so that a repeated effect can be recognised. */
  readonly idempotencyKey: string
}

export interface Log {
  debug(message: string, fields?: JsonObject): void
  info(message: string, fields?: JsonObject): void
  warn(message: string, fields?: JsonObject): void
  error(message: string, fields?: JsonObject): void
}

/** The context a tool gets beside its input. Built-in tools get exactly the same. */
export interface ToolContext {
  /** The id of the task, or the one it will have if it is promoted. */
  readonly taskId: TaskId
  readonly run: number
  /** Stays the same when the call is made again after a crash: pass it on where a repeated start must be recognised. */
  readonly callKey: string
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  /** How long the run may take. Null: as long as it needs. */
  readonly timeoutMs: number | null
  /**
   * Aborted when the run must stop: cancelled, past its time limit, or claimed by another worker. A process that wakes
   * learns of that claim a moment later, so each effect outside a step begins in `act`.
   */
  readonly signal: AbortSignal
  readonly act: Act
  progress(update: Partial<Progress>): void
  /**
   * Keeps an event of the task, once for each key of a run. Resolves once it is durable; in the foreground, it is written
   * if the call is promoted. False if the run has 100 already: it keeps no more.
   */
  milestone(key: string, reached: Partial<ReportedProgress>): Promise<boolean>
  /**
   * Adds to what the task has used. Past its budget the task is stopped, unless `isLast` says that only its result is
   * left to hand back.
   */
  spend(usage: Partial<Usage>, options?: { readonly isLast?: boolean }): void
  readonly output: {
    write(data: string | Uint8Array): void
    /** Reads the output the run has printed so far, redacted. */
    read(request?: OutputRequest): Promise<OutputChunk>
  }
  readonly processes: ProcessPort
  /**
   * Contract: a finished step returns its recorded result without running `effect` again. One that a crash left
   * unfinished runs again only if `onCrash` says so; one whose `effect` threw may be taken again. The lease is checked
   * directly before the effect.
   *
   * A result with a secret in it is not recorded. The run that made it gets it as it is; when the run goes on in
   * another process the step fails with `secret_not_kept`. Return a reference to the secret, and read it outside the
   * step.
   */
  step<Result extends JsonValue>(
    key: string,
    effect: (step: StepContext) => Promise<Result>,
    options?: { readonly onCrash?: OnCrash },
  ): Promise<Result>
  /**
   * Keeps bytes by hash for as long as the task exists that the call is, or that asked for it if the call is in the
   * foreground; without either, for ever. A task whose patch names the bytes keeps them, too.
   */
  readonly artifacts: {
    put(name: string, mediaType: string, bytes: Uint8Array): Promise<ArtifactReference>
  }
  /**
   * Bound to the run's workspace. A task started here is a child of the run, and of its session unless the call names
   * another.
   */
  readonly tasks: TaskService
  readonly sessions: SessionsPort
  /** Refused as `wrong_state` without a session whose model it could be. */
  readonly model: ModelPort
  readonly person: PersonPort
  readonly documents: DocumentsPort
  readonly log: Log
}

/** The ports that reach beyond the task. The composition of the runtime supplies them. */
export type ConversationPorts = Pick<ToolContext, "sessions" | "model" | "person" | "documents">

/** The run that asks for the ports. */
export interface AskingRun extends Pick<ToolContext, "taskId" | "run" | "workspace" | "session" | "signal" | "act"> {
  /** The plugin whose tool the run executes. */
  readonly plugin: string
  /** Refuses what is written for the run once another worker has it, or has the turn whose call it is. */
  readonly store: TaskStore
  readonly traceId: string | null
  /** The step of a turn that made the call: the same when the turn makes it again after a crash. */
  readonly askedBy: AskingStep | null
  /** True if the run, or a run above it, is in the background: no caller is waiting for it. */
  isInBackground(): Promise<boolean>
  readonly limits: TaskLimits
  /** The usage of the task so far, earlier runs included. */
  readonly usage: Usage
  /** True once the store has a record of the run: it is in the background, or about to be. */
  readonly isRecorded: boolean
  /** Resolves once the run's end is durable, or once this process will write nothing more of the run. */
  readonly ended: Promise<unknown>
  /** True if this process drops the run before its end: a shutdown hands it back, or another worker has it. */
  readonly isLeft: boolean
}

export type ConversationPortsOf = (run: AskingRun) => ConversationPorts
