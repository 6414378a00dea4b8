import type { SessionId } from "../../task/id.ts"

/**
 * The sessions for which this process has written a task or a group. Of any other, a turn here leaves nothing behind that
 * has to be looked for.
 */
export interface SessionWork {
  note(session: SessionId | null | undefined): void
  has(session: SessionId): boolean
  /** It is closed here. */
  forget(session: SessionId): void
}

export function createSessionWork(): SessionWork {
  const sessions = new Set<SessionId>()
  return {
    note(session) {
      if (session) sessions.add(session)
    },
    has: (session) => sessions.has(session),
    forget: (session) => void sessions.delete(session),
  }
}
