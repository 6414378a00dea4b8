import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { ArtifactRecord, DocumentRecord } from "../../task/document.ts"
import type { TaskEventBody } from "../../task/event.ts"
import type { GroupArrival, GroupDetails, GroupRecord, GroupStanding, GroupState } from "../../task/group.ts"
import type { ArtifactHash, GroupId, SessionId, TaskId, WaitId, WorkspaceId } from "../../task/id.ts"
import type { Notice, NoticeKey, NoticeKind } from "../../task/notice.ts"
import type { AskingStep, NotifyMode, RunState, TaskCourse, TaskDetails, TaskRecord } from "../../task/record.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { Step } from "../../task/step.ts"
import type { Wait, WaitRecord } from "../../task/wait.ts"

/** The tables that operations find and write rows in. They hold no rules, and no lists for readers. */
export interface Tables {
  readonly tasks: TaskTable
  readonly runs: RunTable
  readonly events: EventTable
  readonly steps: StepTable
  readonly notices: NoticeTable
  readonly waits: WaitTable
  readonly groups: GroupTable
  readonly leases: LeaseTable
  readonly sessions: SessionTable
  readonly documents: DocumentTable
  readonly artifacts: ArtifactTable
}

/** A task as operations work on it: its fixed details, its course, and the fields that depend on the status. */
export interface StoredTask extends NewTask {
  readonly number: number
  /** True if input and metadata lie in a row of their own. */
  readonly hasLargeInput: boolean
}

export interface NewTask {
  readonly details: TaskDetails
  readonly course: TaskCourse
  readonly state: RunState
}

export function toTaskRecord({ details, course, state }: NewTask): TaskRecord {
  return { ...details, ...course, ...state }
}

export interface TaskTable {
  find(id: TaskId): StoredTask | undefined
  findByIdempotencyKey(workspace: WorkspaceId, key: string): StoredTask | undefined
  findByAskingStep(step: AskingStep): StoredTask | undefined
  ofSession(session: SessionId): readonly StoredTask[]
  /**
   * The tasks below it, at any depth, that may need something: live ones, turns, and ended ones with a result that nobody
   * has used. The way down leads through live tasks and through turns, and ends at tasks of lifetime `forever`.
   */
  below(id: TaskId): readonly StoredTask[]
  insert(task: NewTask): StoredTask
  /** Writes course and state. A run that has ended gets a result that nobody has used yet, unless it is a turn. */
  saveRun(task: StoredTask): void
  /** Writes the fields that facts change, and the patch. */
  saveFacts(task: StoredTask): void
  /** Writes the few details that may change: those of `CHANGEABLE_COLUMNS`. */
  saveDetails(task: StoredTask): void
  saveInput(task: StoredTask): void
  markResultUsed(number: number, at: number): void
  remove(task: StoredTask): void
}

/** Earlier runs, as they ended. */
export interface RunTable {
  find(task: number, run: number): TaskRecord | undefined
  all(task: number): readonly TaskRecord[]
  save(task: number, record: TaskRecord): void
  remove(task: number): void
}

export interface EventTable {
  append(task: number, sequence: number, run: number, at: number, body: TaskEventBody): void
  removeBefore(task: number, sequence: number): void
  remove(task: number): void
}

export type StartedStep = Extract<Step, { state: "started" }>
export type FinishedStep = Extract<Step, { state: "finished" }>

export interface StepTable {
  find(task: number, taskId: TaskId, run: number, key: string): Step | undefined
  lastCompletion(task: number, run: number): number
  /** `sequence` is the number of the step's event. False if the step is known already: nothing is written. */
  start(task: number, step: StartedStep, sequence: number): boolean
  /** Finishes a step, known or not. */
  finish(task: number, step: FinishedStep, sequence: number): void
  remove(task: number): void
}

export type StoredNotice = Notice & { readonly task: number }

export interface NoticeTable {
  find(key: NoticeKey): StoredNotice | undefined
  /** Notices claimed by the step and not settled since. */
  claimedBy(step: AskingStep): readonly StoredNotice[]
  /**
   * Writes a pending notice; an existing one of the same run and kind becomes pending again. Default `notify`: the
   * task's.
   */
  insert(task: StoredTask, kind: NoticeKind, at: number, notify?: NotifyMode): void
  save(task: number, notice: Notice): void
  /** Settles the task's unused notices of this kind, of all its runs, as superseded. */
  supersede(task: number, kind: NoticeKind, at: number): void
  remove(task: number): void
  /** Addresses all notices of the task to another session, or to none. */
  readdress(task: number, session: SessionId | null): void
}

export interface WaitTable {
  find(id: WaitId): WaitRecord | undefined
  open(task: StoredTask, wait: Wait, at: number): void
  answer(id: WaitId, answer: JsonValue, answeredBy: string, at: number): void
  withdraw(id: WaitId): void
  remove(task: number): void
}

export interface GroupTable {
  find(id: GroupId): GroupRecord | undefined
  /** The part of a group that a task must know to join it. */
  entryOf(id: GroupId): Pick<GroupRecord, "workspace" | "state"> | undefined
  /** True if the group was created to report nothing. */
  isSilent(id: GroupId): boolean
  /** The counts that decide the join. Arrivals are counted only for a sealed group, since an open one cannot join. */
  standingOf(id: GroupId): (GroupStanding & Pick<GroupRecord, "session">) | undefined
  insert(details: GroupDetails, at: number): void
  move(id: GroupId, to: GroupState): void
  /** Gives a group of the session `from` to the session `to`. */
  readdress(id: GroupId, from: SessionId | null, to: SessionId | null): void
  addMember(id: GroupId): void
  /** A member that arrives again replaces its earlier arrival. */
  arrive(id: GroupId, task: number, arrival: GroupArrival): void
  /** Removes the arrival of a member that runs again, unless the group has joined or was cancelled. */
  depart(id: GroupId, task: number): void
  /** Also removes a joined or cancelled group without a session once its last member is removed. */
  removeMember(id: GroupId, task: number): void
  removeOfSession(session: SessionId): readonly GroupId[]
}

export interface StoredLease {
  readonly key: string
  readonly holder: string
  readonly fence: number
  readonly ttlMs: number
  /** Raised by every take and renewal: while it stands still, the holder is silent. */
  readonly renewals: number
  readonly data: JsonObject
}

export interface LeaseTable {
  find(key: string): StoredLease | undefined
  save(lease: StoredLease): void
  renew(lease: StoredLease): void
  remove(key: string): void
  /** Grows for ever, over all keys, so that a lease that was released and taken again has a higher fence. */
  nextFence(): number
}

/** Judges whether the holder of a lease is silent for too long, or gone. */
export interface LeaseWatch {
  isOver(lease: StoredLease): boolean
}

export interface StoredSession {
  readonly number: number
  readonly record: SessionRecord
}

export interface SessionTable {
  find(id: SessionId): StoredSession | undefined
  workspaceOf(id: SessionId): WorkspaceId | undefined
  insert(record: SessionRecord): StoredSession
  /** `before` is the record as it was, so that only the index entries that differ are written. */
  save(session: StoredSession, before: SessionRecord): void
  append(session: number, position: number, at: number, body: JsonValue): void
  /** Copies the messages of one session, up to a position, to another that has none. */
  copyMessages(from: number, to: number, upTo: number): void
  remove(session: StoredSession): void
}

export interface DocumentTable {
  versionOf(workspace: WorkspaceId, collection: string, id: string): number
  save(document: DocumentRecord): void
  remove(workspace: WorkspaceId, collection: string, id: string): void
}

export interface ArtifactTable {
  put(artifact: Omit<ArtifactRecord, "taskId">, task: number | null): void
  /** Makes the task an owner of bytes that are kept already. Does nothing if there are none. */
  own(workspace: WorkspaceId, hash: ArtifactHash, task: number): void
  removeOwner(task: number): void
}
