import type { JsonObject, JsonValue } from "../base/json.ts"
import type { DocumentRecord } from "./document.ts"
import type { FactEvent, LifecycleEvent } from "./event.ts"
import type { GroupDetails, GroupMembership, GroupRecord } from "./group.ts"
import type { ArtifactHash, GroupId, SessionId, TaskId, WaitId, WorkerId, WorkspaceId } from "./id.ts"
import type { Lease } from "./lease.ts"
import type { NoticeKey } from "./notice.ts"
import type { AskingStep, TaskDetails, TaskRecord } from "./record.ts"
import type { SessionMetadata, SessionRecord } from "./session.ts"
import type { OnCrash, Step, StepTaken } from "./step.ts"
import type { Wait } from "./wait.ts"

/** The state in which a new task begins. */
export type TaskEntry =
  | { readonly as: "queued"; readonly delayMs?: number }
  /** Its creator claims it in the same transaction: a slot is free, or the work already runs. */
  | { readonly as: "running"; readonly worker: WorkerId; readonly startedAt?: number }
  /** Its admission waits for an answer first. */
  | { readonly as: "waiting"; readonly wait: Wait }

/** The run that a write is for. A worker that runs it adds the fence of its claim. */
export interface RunReference {
  readonly taskId: TaskId
  readonly run: number
  readonly fence?: number
}

/**
 * Everything that changes the store, as data. Each is checked under the store's own rules; the engine stamps the time.
 * Operations committed together happen together or not at all.
 */
export type Operation =
  /**
   * Writes the task, `task.queued`, then the entry's own event, then `facts`, then `steps`. If the idempotency key (per
   * workspace) or the asking step has a task already, the answer is that task and nothing is written. A group, an
   * asking run or an existing session of another workspace is refused as `not_found`, and a task below one that was
   * stopped or failed as `wrong_state`.
   */
  | {
      readonly op: "task.create"
      readonly details: TaskDetails
      readonly entry: TaskEntry
      readonly facts?: readonly FactEvent[]
      /** Taken before the task was written. The finished ones are numbered in this order. */
      readonly steps?: readonly StepTaken[]
      /** Finishes the asking step with this result in the same transaction. */
      readonly askingStepResult?: JsonValue
      /** Tasks that the work began before it had this record: they are below it from now on, and no longer beside it. */
      readonly children?: readonly TaskId[]
    }
  /**
   * Writes nothing. Refused as `stale_claim` unless the run is claimed under the fence. Committed with what is written for
   * a call below the run, which has no record, and so no fence of its own.
   */
  | { readonly op: "claim.check"; readonly run: Required<RunReference> }
  /**
   * Settles what a call left below it that ends without a record, as the end of its record would have. `children` are the
   * tasks and turns that it began, `parentTask` the nearest recorded run above the call and `session` the call's own.
   * With `stoppedFor` all that lives below is stopped for that reason; else the call completed, and it is handed on.
   */
  | {
      readonly op: "call.end"
      readonly children: readonly TaskId[]
      readonly parentTask: TaskId | null
      readonly session: SessionId | null
      readonly stoppedFor: string | null
    }
  /**
   * Moves a run. Refused as `wrong_state` if the lifecycle has no such transition or another run is current, and as
   * `stale_claim` if a fence or a last sequence number is given that is not the current one. A terminal event also
   * writes the notice (none for a turn) and the group arrival, and withdraws an open wait. It and `task.stop_requested`
   * also settle what is below the task: see `engine/rules/settle-below.ts`. `task.waited` opens the wait and, if a person
   * can answer it, writes a `needs_answer` notice, which is superseded once the wait is closed. `task.answered` is
   * refused: see `wait.answer`.
   */
  | {
      readonly op: "task.apply"
      readonly run: RunReference
      readonly event: LifecycleEvent
      /** The version of the task that the decision was based on. */
      readonly lastSequence?: number
    }
  /**
   * Writes facts, and updates the record by them (progress, usage added up, late patch, retrieval). With a fence,
   * refused as `stale_claim` once the fence is not current. Without one, accepted even after the run has ended.
   */
  | { readonly op: "task.note"; readonly run: RunReference; readonly facts: readonly FactEvent[] }
  /**
   * Begins run n + 1 of a task whose run n is terminal, and settles n's unused notices as superseded. `resume` raises
   * `resumeCount`. Title, folder, input and metadata are replaced if they are given. With `wait` the run waits for that
   * answer first.
   */
  | {
      readonly op: "task.begin_run"
      readonly taskId: TaskId
      readonly afterRun: number
      readonly reason: "retry" | "resume"
      readonly title?: string
      readonly folder?: string | null
      readonly input?: JsonValue
      readonly inputHeldBy?: WorkerId | null
      readonly metadata?: JsonObject
      readonly wait?: Wait
    }
  | { readonly op: "task.prioritize"; readonly taskId: TaskId; readonly priority: number }
  /** Changes the time limit of a live task, and writes `task.limited` if it was another one. Null: no limit. */
  | { readonly op: "task.limit"; readonly taskId: TaskId; readonly timeoutMs: number | null }
  /**
   * Deletes input, payload, steps and all events but the last, of earlier runs too. Status, times, digest and usage
   * stay. Terminal tasks only; with `run`, only while that is their last run.
   */
  | { readonly op: "task.strip"; readonly taskId: TaskId; readonly run?: number }
  /** Removes a terminal task with all that belongs to it; with `run`, only while that is its last run. */
  | { readonly op: "task.remove"; readonly taskId: TaskId; readonly run?: number }
  | { readonly op: "step.start"; readonly run: RunReference; readonly key: string; readonly onCrash: OnCrash }
  /**
   * Records a step as finished, started or not. A finished step keeps its first result. With `settlesClaims` the
   * notices that the step has claimed are consumed: its answer is in the conversation now.
   */
  | {
      readonly op: "step.finish"
      readonly run: RunReference
      readonly key: string
      readonly result: JsonValue
      readonly settlesClaims?: true
    }
  /**
   * Claims notices that are pending, claimed by the same step, or claimed by a run that is over. Answers with the keys
   * it claimed.
   */
  | { readonly op: "notice.claim"; readonly keys: readonly NoticeKey[]; readonly by: AskingStep }
  | { readonly op: "notice.release"; readonly keys: readonly NoticeKey[]; readonly by: AskingStep }
  /** Settles notices as used; `by: null` is an acknowledgement outside a turn. Answers with the keys it settled. */
  | { readonly op: "notice.consume"; readonly keys: readonly NoticeKey[]; readonly by: AskingStep | null }
  /** Refused as `not_found` if its session exists in another workspace. */
  | { readonly op: "group.create"; readonly details: GroupDetails }
  /**
   * `joined` cannot be asked for: a group joins in the transaction of its seal, or of the arrival that its `join`
   * waited for.
   */
  | {
      readonly op: "group.move"
      readonly groupId: GroupId
      readonly to: "sealed" | "cancelled"
      /** Refused as `wrong_state` if a member has entered, ended, left or begun a new run since this was read. */
      readonly ifMembers?: GroupMembership
    }
  /** Closes an open wait and puts its run back in the queue. Refused as `wrong_state` if the wait is not open. */
  | {
      readonly op: "wait.answer"
      readonly waitId: WaitId
      readonly answer: JsonValue
      readonly answeredBy: string
    }
  /** Refused as `lease_held` while another holder has the lease. The present holder gets it under the same fence. */
  | {
      readonly op: "lease.take"
      readonly key: string
      readonly holder: string
      readonly ttlMs: number
      readonly data: JsonObject
    }
  /** Refused as `stale_claim` if the lease was taken over or removed. */
  | { readonly op: "lease.renew"; readonly key: string; readonly holder: string; readonly fence: number }
  | { readonly op: "lease.release"; readonly key: string; readonly holder: string; readonly fence: number }
  /**
   * With `messagesOf` it begins with a copy of another session's messages, up to a position, in the same places. Refused as
   * `not_found` if that session is of another workspace, and as `invalid_input` if it has fewer messages.
   */
  | {
      readonly op: "session.create"
      readonly id: SessionId
      readonly workspace: WorkspaceId
      readonly parent?: SessionId | null
      readonly data: JsonObject
      readonly metadata?: SessionMetadata
      readonly title?: string | null
      readonly messagesOf?: { readonly session: SessionId; readonly upTo: number }
    }
  /** Replaces the data, if given, and appends messages. Refused as `version_conflict` if the version is another one. */
  | {
      readonly op: "session.update"
      readonly id: SessionId
      readonly expectedVersion: number
      readonly data?: JsonObject
      readonly messages: readonly JsonValue[]
    }
  /** Sets the keys of the metadata that are given, removes those that are null, and replaces the title if it is given. */
  | {
      readonly op: "session.label"
      readonly id: SessionId
      readonly metadata?: Readonly<Record<string, string | null>>
      readonly title?: string | null
    }
  /**
   * Removes the session with its messages, groups and terminal tasks. Refused as `wrong_state` while one of its tasks
   * lives, except for a `forever` task, which goes on without a session. With `ifIdleSince` it is also refused if a task of
   * any lifetime lives, or if the session has changed or a task of it has ended since that time.
   */
  | { readonly op: "session.delete"; readonly id: SessionId; readonly ifIdleSince?: number }
  /**
   * `expectedVersion` 0: the document must not exist. Refused as `version_conflict` if the version is another one.
   * `wakes` names the session that the document is left for, which is woken wherever it is open.
   */
  | {
      readonly op: "document.put"
      readonly workspace: WorkspaceId
      readonly collection: string
      readonly id: string
      readonly value: JsonValue
      readonly expectedVersion: number
      readonly wakes?: SessionId
    }
  | {
      readonly op: "document.delete"
      readonly workspace: WorkspaceId
      readonly collection: string
      readonly id: string
    }
  | {
      readonly op: "artifact.put"
      readonly workspace: WorkspaceId
      readonly taskId: TaskId | null
      readonly mediaType: string
      readonly bytes: Uint8Array
    }

export type OperationName = Operation["op"]
export type OperationOf<Name extends OperationName> = Extract<Operation, { op: Name }>

/** The answer of each operation once it is committed. */
interface OperationAnswers {
  "task.create": { readonly task: TaskRecord; readonly created: boolean }
  "claim.check": null
  "call.end": null
  "task.apply": TaskRecord
  "task.note": { readonly lastSequence: number; readonly usage: TaskRecord["usage"] }
  "task.begin_run": TaskRecord
  "task.prioritize": TaskRecord
  "task.limit": TaskRecord
  "task.strip": TaskRecord
  "task.remove": null
  "step.start": Step
  "step.finish": Step
  "notice.claim": readonly NoticeKey[]
  "notice.release": readonly NoticeKey[]
  "notice.consume": readonly NoticeKey[]
  "group.create": GroupRecord
  "group.move": GroupRecord
  "wait.answer": TaskRecord
  "lease.take": Lease
  "lease.renew": Lease
  "lease.release": null
  "session.create": SessionRecord
  "session.update": SessionRecord
  "session.label": SessionRecord
  "session.delete": null
  "document.put": DocumentRecord
  "document.delete": null
  "artifact.put": ArtifactHash
}

export type AnswerOf<Name extends OperationName> = OperationAnswers[Name]
export type Answers<Operations extends readonly Operation[]> = {
  readonly [Index in keyof Operations]: AnswerOf<Operations[Index]["op"]>
}
