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

/** One handler per operation, in files by family. `perform` has those of documents and artifacts. */
export type Handlers = {
  readonly [Name in OperationName]: (operation: OperationOf<Name>, change: Change) => AnswerOf<Name>
}

export function createChange(now: number): Change {
  return { now, wakes: [], hasOffers: false }
}

export function wakeTask(change: Change, taskId: TaskId, sequence: number): void {
  change.wakes.push({ about: "task", taskId, sequence })
}

/** The same when its run has not ended by that. */
export function wakeLiveTask(change: Change, taskId: TaskId, sequence: number): void {
  change.wakes.push({ about: "task", taskId, sequence, isLive: true })
}

export function wakeSession(change: Change, sessionId: SessionId | null): void {
  if (sessionId !== null) change.wakes.push({ about: "session", sessionId })
}

/**
 * A writer of a session hears of its own writes. They are marked apart from notices, so that nobody looks for notices
 * in vain.
 */
export function wakeWritten(change: Change, sessionId: SessionId): void {
  change.wakes.push({ about: "session", sessionId, hasNotice: false })
}

export function wakeGroup(change: Change, groupId: GroupId): void {
  change.wakes.push({ about: "group", groupId })
}

export type Answer = AnswerOf<OperationName>

/** Somebody who wants something written, and waits for what becomes of it. */
export interface Writer {
  readonly operations: readonly Operation[]
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: unknown) => void
}

/** The outcome of one writer: its answers, or the refusal that rolled its writes back. */
export type Outcome =
  | { readonly isRefused: false; readonly answers: readonly Answer[]; readonly change: Change }
  | { readonly isRefused: true; readonly error: unknown }
