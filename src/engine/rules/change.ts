import type { Wake } from "../../task/bus.ts"
import type { GroupId, SessionId, TaskId } from "../../task/id.ts"
import type { AnswerOf, Operation, OperationName, OperationOf } from "../../task/operation.ts"

/** The wake-ups of one commit, published once it is durable. */
export interface Change {
  /** The time that everything in this commit carries. */
  readonly now: number
  readonly wakes: Wake[]
  hasOffers: boolean
}

/** One handler per operation, in one file for each family. Those of documents and artifacts are in `perform`. */
export type Handlers = {
  readonly [Name in OperationName]: (operation: OperationOf<Name>, change: Change) => AnswerOf<Name>
}

export function createChange(now: number): Change {
  return { now, wakes: [], hasOffers: false }
}

export function wakeTask(change: Change, taskId: TaskId, sequence: number): void {
  change.wakes.push({ about: "task", taskId, sequence })
}

/** Wakes those who follow a task whose run has not ended by this change. */
export function wakeLiveTask(change: Change, taskId: TaskId, sequence: number): void {
  change.wakes.push({ about: "task", taskId, sequence, isLive: true })
}

export function wakeSession(change: Change, sessionId: SessionId | null): void {
  if (sessionId !== null) change.wakes.push({ about: "session", sessionId })
}

/**
 * A writer of a session is woken by its own writes, too. The wake-up says that no notice was written, so that nobody
 * looks for one without need.
 */
export function wakeWritten(change: Change, sessionId: SessionId): void {
  change.wakes.push({ about: "session", sessionId, hasNotice: false })
}

export function wakeGroup(change: Change, groupId: GroupId): void {
  change.wakes.push({ about: "group", groupId })
}

export type Answer = AnswerOf<OperationName>

/** A caller of `commit`, waiting for the outcome of its operations. */
export interface Writer {
  readonly operations: readonly Operation[]
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: unknown) => void
}

/** The outcome of one writer: its answers, or the refusal that rolled its writes back. */
export type Outcome =
  | { readonly isRefused: false; readonly answers: readonly Answer[]; readonly change: Change }
  | { readonly isRefused: true; readonly error: unknown }
