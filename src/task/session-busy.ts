import { isMeanwhileError, MeanwhileError } from "../base/error.ts"
import type { SessionId, TaskId, WorkerId } from "./id.ts"
import type { RunStatus } from "./lifecycle.ts"

/** The details of `session_busy`: which turn holds the session, and where it is. */
export type SessionBusy = {
  readonly session: SessionId
  /**
   * Null if another message was sent in the same moment, here or in another process, and its turn has not begun: the same
   * request may succeed a moment later.
   */
  readonly turn: TaskId | null
  /** The turn's status; null without a turn. */
  readonly status: RunStatus | null
  /** The worker that runs the turn; null while the turn is queued or waits. */
  readonly worker: WorkerId | null
}

/** The turn that holds a session. */
export interface HoldingTurn {
  readonly id: TaskId
  readonly status: RunStatus
  readonly worker?: WorkerId | null
}

/** Every `session_busy` is made here, so its details are what `toSessionBusy` reads. Null: no turn holds the session. */
export function toSessionBusyError(session: SessionId, turn: HoldingTurn | null, message: string): MeanwhileError {
  const { id = null, status = null, worker = null } = turn ?? {}
  const details: SessionBusy = { session, turn: id, status, worker }
  return new MeanwhileError("session_busy", message, details)
}

/** The details of a `session_busy`; undefined for any other error. */
export function toSessionBusy(error: unknown): SessionBusy | undefined {
  return isMeanwhileError(error, "session_busy") ? (error.details as SessionBusy) : undefined
}
