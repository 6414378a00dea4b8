import { createOneAtATime } from "../../base/one-at-a-time.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"

export type WrittenTasks = ReturnType<typeof createWrittenTasks>

/**
 * Facts that this process remembers of the tasks it has written. `onTask` is called for every task that is written or
 * begun anew here, with the number of the last event before that.
 */
export function createWrittenTasks(onTask: (task: TaskRecord, sinceSequence: number) => void = () => {}) {
  const sessions = new Set<SessionId>()
  return {
    onTask,
    /** Inputs that held a secret: never stored, so only this process can run them. */
    heldInputs: new Map<TaskId, unknown>(),
    /** Groups are opened one at a time for each name, so that two calls that open a group at once open one group. */
    groupsByName: createOneAtATime(),
    /**
     * The sessions for which this process has written a task or a group. A turn of any other session leaves nothing to
     * look for.
     */
    sessions: {
      note(session: SessionId | null | undefined): void {
        if (session) sessions.add(session)
      },
      has: (session: SessionId): boolean => sessions.has(session),
      /** Called when the session is closed here. */
      forget: (session: SessionId): void => void sessions.delete(session),
    },
  }
}
