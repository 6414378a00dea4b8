import type { MeanwhileError } from "../base/error.ts"
import type { ArtifactRecord, DocumentRecord } from "./document.ts"
import type { TaskEvent } from "./event.ts"
import type { GroupRecord, GroupState, MergeStrategy } from "./group.ts"
import type { ArtifactHash, GroupId, SessionId, TaskId, WaitId, WorkerId, WorkspaceId } from "./id.ts"
import type { Lease } from "./lease.ts"
import type { RunStatus } from "./lifecycle.ts"
import type { Notice, NoticeState } from "./notice.ts"
import type { Answers, Operation } from "./operation.ts"
import type { AskingStep, Lifetime, NotifyMode, TaskKind, TaskRecord, TaskSummary } from "./record.ts"
import type { MessageRecord, SessionMetadata, SessionRecord } from "./session.ts"
import type { Step } from "./step.ts"
import type { WaitRecord } from "./wait.ts"
import type { WorkerRecord } from "./worker.ts"

/** Every field that is given must match. */
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
  /** At most one task has a given asking step. */
  readonly askedBy?: AskingStep
  readonly lifetimes?: readonly Lifetime[]
  /** The worker that runs it now. */
  readonly worker?: WorkerId
  readonly inputHeldBy?: WorkerId
  /** The result of every ended run of the task was consumed or superseded. */
  readonly isConsumed?: boolean
  /** The task is consumed, and its last result was used before this time. */
  readonly consumedBefore?: number
  readonly isStripped?: boolean
  /**
   * With kinds other than turns, an index finds the ends of the workspace or of the session. Otherwise it is checked in each
   * task that the other fields find.
   */
  readonly endedAfter?: number
}

export type CountFilter = Pick<TaskFilter, "workspace" | "kinds" | "statuses">
export type StatusCounts = Readonly<Record<RunStatus, number>>

/** Every field that is given must match. */
export interface SessionFilter {
  readonly workspace: WorkspaceId
  /** Null: sessions with none above them. */
  readonly parent?: SessionId | null
  /** Every pair must match. */
  readonly metadata?: SessionMetadata
  readonly changedBefore?: number
}

/** Every field that is given must match. */
export interface NoticeFilter {
  readonly workspace?: WorkspaceId
  /** Null: notices without a session. */
  readonly session?: SessionId | null
  readonly taskId?: TaskId
  readonly states?: readonly NoticeState[]
  readonly notify?: readonly NotifyMode[]
}

/** Every field that is given must match. */
export interface GroupFilter {
  readonly workspace?: WorkspaceId
  /** Null: groups without a session. */
  readonly session?: SessionId | null
  readonly states?: readonly GroupState[]
  readonly name?: string
  readonly idPrefix?: string
  readonly failFast?: boolean
  readonly merge?: MergeStrategy
  /** Only groups with members for which no task has, as idempotency key, this text followed by the group's id. */
  readonly withoutTask?: string
}

/** Every field that is given must match. */
export interface WaitFilter {
  readonly workspace?: WorkspaceId
  readonly taskId?: TaskId
  readonly isOpen?: boolean
  /** The time to answer ends by then. */
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
   * False: answered once a crash of this process cannot undo the commit, although a loss of power may, for a moment.
   * For writes that nothing outside depends on before a later commit that waits: once that one is answered, both are on
   * disk.
   */
  readonly waitsForDisk?: boolean
  /** False: a refusal of the engine is passed on at once, and not tried again. */
  readonly waitsForStore?: boolean
  /**
   * Says what the engine does while it takes no writes. Default `wait`: the commit waits as long as the engine is patient.
   * `refuse`: it is refused as `store_unavailable` about a second after the store went away.
   */
  readonly whenAway?: "wait" | "refuse"
}

/**
 * The truth. `commit` is the only door for change: the operations happen together or not at all, and the answer comes
 * once they are durable, as far as the options ask for that. Every refusal is a MeanwhileError, and says that nothing was
 * stored, unless its details are `IN_DOUBT`. A read sees everything committed before it began. Nothing here assumes one process: another may have written a moment ago.
 */
export interface TaskStore {
  commit<const Operations extends readonly Operation[]>(
    operations: Operations,
    options?: CommitOptions,
  ): Promise<Answers<Operations>>

  task(id: TaskId): Promise<TaskRecord | undefined>
  /** An earlier run of a task as it ended, or the current one as it stands. */
  run(id: TaskId, run: number): Promise<TaskRecord | undefined>
  /** Newest first; with `consumedBefore`, the longest consumed first. */
  tasks(filter: TaskFilter, page: PageRequest): Promise<Page<TaskSummary>>
  countTasks(filter: TaskFilter): Promise<number>
  countByStatus(filter: CountFilter): Promise<StatusCounts>
  /** How long the oldest run that could be taken now has been in the queue; undefined if there is none. */
  queueAgeMs(filter: CountFilter): Promise<number | undefined>
  /** Tasks of the workspace whose id begins with `prefix`, at most `limit`. */
  findByPrefix(workspace: WorkspaceId, prefix: string, limit: number): Promise<readonly TaskId[]>
  /**
   * 1 for the task to be taken next. Turns are not counted, since they take no slot. Undefined if the task is not
   * queued.
   */
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
  /** The last changed first. A session that changes between two pages may be on neither of them. */
  sessions(filter: SessionFilter, page: PageRequest): Promise<Page<SessionRecord>>
  /** The workspaces that have sessions, by name, after this one; null to begin. */
  sessionWorkspaces(after: WorkspaceId | null, limit: number): Promise<readonly WorkspaceId[]>
  messages(id: SessionId, afterPosition: number, limit: number): Promise<readonly MessageRecord[]>
  document(workspace: WorkspaceId, collection: string, id: string): Promise<DocumentRecord | undefined>
  /** With `idPrefix`, only documents whose id begins with it. */
  documents(workspace: WorkspaceId, collection: string, idPrefix?: string): Promise<readonly DocumentRecord[]>
  artifact(workspace: WorkspaceId, hash: ArtifactHash): Promise<ArtifactRecord | undefined>

  checkIntegrity(): Promise<StoreHealth>
  /** Why reads and writes wait now, for a store that cannot be reached. Undefined if they do not, or only for a moment. */
  unreachable(): MeanwhileError | undefined
}
