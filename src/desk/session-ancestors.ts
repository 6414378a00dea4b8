import { createNewestMap } from "../base/newest-map.ts"
import type { SessionId } from "../task/id.ts"
import type { TaskStore } from "../task/store.ts"

/** No agents are this deep below each other. */
const DEEPEST = 20
const MOST_REMEMBERED = 10_000

/** A session and the sessions above it; the last is the conversation. The parent of a session never changes. */
export type SessionAncestors = (session: SessionId) => Promise<readonly SessionId[]>

export function createSessionAncestors(store: Pick<TaskStore, "session">): SessionAncestors {
  /** Promises, so that many tasks of one session, looked at together, read the session once. */
  const parents = createNewestMap<SessionId, Promise<SessionId | null>>(MOST_REMEMBERED)

  function parentOf(session: SessionId): Promise<SessionId | null> {
    const known = parents.get(session)
    if (known) return known
    const reading = store.session(session).then((record) => {
      if (record) return record.parent
      // The session may be stored later.
      parents.delete(session)
      return null
    })
    parents.set(session, reading)
    reading.catch(() => parents.delete(session))
    return reading
  }

  return async (session) => {
    const line: SessionId[] = []
    for (let above: SessionId | null = session; above && line.length < DEEPEST; above = await parentOf(above)) {
      line.push(above)
    }
    return line
  }
}
