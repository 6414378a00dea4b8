import type { SessionId, TaskId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"

/** Facts that this process remembers of the tasks it has written. */
export interface WrittenTasks {
  /** Inputs that held a secret: never stored, so only this process can run them. */
  readonly heldInputs: Map<TaskId, unknown>
  readonly sessions: SessionsWithWork
  /** Called for every task that is written or begun anew here, with the number of the last event before that. */
  readonly onTask: (task: TaskRecord, sinceSequence: number) => void
}

/**
 * The sessions for which this process has written a task or a group. A turn of any other session leaves nothing to look
 * for.
 */
export interface SessionsWithWork {
  note(session: SessionId | null | undefined): void
  has(session: SessionId): boolean
  /** The session is closed here. */
  forget(session: SessionId): void
}

export function createWrittenTasks(onTask: WrittenTasks["onTask"] = () => {}): WrittenTasks {
  const sessions = new Set<SessionId>()
  return {
    heldInputs: new Map(),
    onTask,
    sessions: {
      note(session) {
        if (session) sessions.add(session)
      },
      has: (session) => sessions.has(session),
      forget: (session) => void sessions.delete(session),
    },
  }
}
