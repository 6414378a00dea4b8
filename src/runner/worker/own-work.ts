import type { TakeRequest } from "../../task/dispatcher.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { TaskSummary } from "../../task/record.ts"

/** What a runner that leaves others' work alone takes as its own: what was asked for here, and what its open sessions have. */
export interface OwnWork {
  /** Created, begun anew, answered or stopped here. */
  add(id: TaskId): void
  remove(id: TaskId): void
  /** Its own, and not to run here: it waits for whoever is where it was asked for. */
  leave(id: TaskId): void
  isLeft(id: TaskId): boolean
  has(task: Pick<TaskSummary, "id" | "session">): boolean
  hasSession(session: SessionId | null): boolean
  toRequest(): Pick<TakeRequest, "only">
}

export function createOwnWork(openSessions: () => readonly SessionId[]): OwnWork {
  const ids = new Set<TaskId>()
  const left = new Set<TaskId>()
  const hasSession = (session: SessionId | null): boolean => session !== null && openSessions().includes(session)
  return {
    add: (id) => void ids.add(id),
    remove: (id) => void ids.delete(id),
    leave: (id) => void left.add(id),
    isLeft: (id) => left.has(id),
    has: ({ id, session }) => ids.has(id) || hasSession(session),
    hasSession,
    toRequest: () => ({ only: { sessions: openSessions(), tasks: [...ids] } }),
  }
}
