import type { ArtifactRecord, DocumentRecord } from "./document.ts"
import type { TaskEvent } from "./event.ts"
import type { GroupRecord, GroupState, MergeStrategy } from "./group.ts"
import type { ArtifactHash, GroupId, SessionId, TaskId, WaitId, WorkerId, WorkspaceId } from "./id.ts"
import type { Lease } from "./lease.ts"
import type { RunStatus } from "./lifecycle.ts"
import type { Notice, NoticeState } from "./notice.ts"
import type { Answers, Operation } from "./operation.ts"
import type { AskingStep, Lifetime, NotifyMode, TaskKind, TaskRecord, TaskSummary } from "./record.ts"
import type { MessageRecord, SessionRecord } from "./session.ts"
import type { Step } from "./step.ts"
import type { WaitRecord } from "./wait.ts"
import type { WorkerRecord } from "./worker.ts"

/** Every part given must hold. */
export interface TaskFilter {
  readonly workspace?: WorkspaceId
  /** Null: tasks without a session. */
  readonly session?: SessionId | null
  readonly statuses?: readonly RunStatus[]
  readonly kinds?: readonly TaskKind[]
  readonly plugin?: string
  readonly tool?: string
  readonly parentTask?: TaskId
  readonly group?: GroupId
  readonly batch?: string
  readonly idempotencyKey?: string
  /** At most one task has it. */
  readonly askedBy?: AskingStep
  readonly lifetimes?: readonly Lifetime[]
  /** The worker that runs it now. */
  readonly worker?: WorkerId
  readonly inputHeldBy?: WorkerId
  /** Every ended run of it has been consumed or superseded. */
  readonly isConsumed?: boolean
  /** Consumed, and the last of it before this time. */
  readonly consumedBefore?: number
  readonly isStripped?: boolean
  /** Looked at in each task that the other parts find: no index has it. */
  readonly endedAfter?: number
}

export type CountFilter = Pick<TaskFilter, "workspace" | "kinds" | "statuses">
export type StatusCounts = Readonly<Record<RunStatus, number>>

/** Every part given must hold. */
export interface NoticeFilter {
  readonly workspace?: WorkspaceId
  /** Null: notices without a session. */
  readonly session?: SessionId | null
  readonly taskId?: TaskId
  readonly states?: readonly NoticeState[]
  readonly notify?: readonly NotifyMode[]
}

/** Every part given must hold. */
export interface GroupFilter {
  readonly workspace?: WorkspaceId
  /** Null: groups without a session. */
  readonly session?: SessionId | null
  readonly states?: readonly GroupState[]
  readonly name?: string
  readonly idPrefix?: string
  readonly failFast?: boolean
  readonly merge?: MergeStrategy
  /**
   * Only those with members for which there is no task whose idempotency key is this, with the group's id behind it.
   */
  readonly withoutTask?: string
}

/** Every part given must hold. */
export interface WaitFilter {
  readonly workspace?: WorkspaceId
  readonly taskId?: TaskId
  readonly isOpen?: boolean
  /** The time to answer is over by then. */
  readonly expiresBy?: number
}

export interface PageRequest {
  readonly limit: number
  /** From the page before; opaque. */
  readonly cursor?: string
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Absent on the last page. */
  readonly cursor?: string
}

export interface StoreHealth {
  readonly isHealthy: boolean
  readonly problems: readonly string[]
}

export interface CommitOptions {
  /**
   * False: answered once the loss of this process cannot undo it, although the loss of power may for a moment. For what
   * nothing outside rests on before a later commit that waits: whatever that one's answer finds on disk, this is there
   * too.
   */
  readonly waitsForDisk?: boolean
}

/**
 * The truth. `commit` is the only door for change: the operations happen together or not at all, and the answer comes
 * once they are durable, as far as its options ask for that. Every refusal is a MeanwhileError. Reads see everything
 * committed before they were asked. Nothing here assumes one process: another may have written a moment ago.
 */
export interface TaskStore {
  commit<const Operations extends readonly Operation[]>(
    operations: Operations,
    options?: CommitOptions,
  ): Promise<Answers<Operations>>

  task(id: TaskId): Promise<TaskRecord | undefined>
  /** An earlier or the current run of a task, as it ended or stands. */
  run(id: TaskId, run: number): Promise<TaskRecord | undefined>
  /** Newest first; with `consumedBefore`, the longest consumed first. */
  tasks(filter: TaskFilter, page: PageRequest): Promise<Page<TaskSummary>>
  countTasks(filter: TaskFilter): Promise<number>
  countByStatus(filter: CountFilter): Promise<StatusCounts>
  /** For how long the oldest of those that could run has been in the queue; undefined when there is none. */
  queueAgeMs(filter: CountFilter): Promise<number | undefined>
  /** Tasks of the workspace whose id begins so, at most `limit`. */
  findByPrefix(workspace: WorkspaceId, prefix: string, limit: number): Promise<readonly TaskId[]>
  /** 1 for the next to be taken, not counting turns, which take no slot; undefined when it is not queued. */
  placeInQueue(id: TaskId): Promise<number | undefined>

  events(id: TaskId, afterSequence: number, limit: number): Promise<readonly TaskEvent[]>
  steps(id: TaskId, run: number): Promise<readonly Step[]>
  /** Oldest first. */
  notices(filter: NoticeFilter, limit: number): Promise<readonly Notice[]>
  group(id: GroupId): Promise<GroupRecord | undefined>
  /** Newest first. */
  groups(filter: GroupFilter, limit: number): Promise<readonly GroupRecord[]>
  /** Oldest first. */
  waits(filter: WaitFilter): Promise<readonly WaitRecord[]>
  wait(id: WaitId): Promise<WaitRecord | undefined>
  leases(keyPrefix: string): Promise<readonly Lease[]>
  /** Live workers, each with its announcement. */
  workers(): Promise<readonly WorkerRecord[]>
  session(id: SessionId): Promise<SessionRecord | undefined>
  /** The last changed first. */
  sessions(workspace: WorkspaceId, page: PageRequest): Promise<Page<SessionRecord>>
  messages(id: SessionId, afterPosition: number, limit: number): Promise<readonly MessageRecord[]>
  document(workspace: WorkspaceId, collection: string, id: string): Promise<DocumentRecord | undefined>
  documents(workspace: WorkspaceId, collection: string): Promise<readonly DocumentRecord[]>
  artifact(workspace: WorkspaceId, hash: ArtifactHash): Promise<ArtifactRecord | undefined>

  checkIntegrity(): Promise<StoreHealth>
}
