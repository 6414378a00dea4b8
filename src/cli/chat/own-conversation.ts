import type { Runtime } from "../../app.ts"
import { createNewestMap } from "../../base/newest-map.ts"
import type { Task } from "../format.ts"

type SessionId = NonNullable<Task["session"]>

/** No agents are so deep below each other. */
const DEEPEST = 20
const MOST_REMEMBERED = 10_000

/**
 * Whether a session is one that this chat has open, or below it: its agents may run in another process, which tells
 * nothing here. Whose a session is does not change.
 */
export function createOwnConversation(
  { engine }: Pick<Runtime, "engine">,
  isHere: (session: SessionId) => boolean,
): (session: SessionId) => Promise<boolean> {
  const parents = createNewestMap<SessionId, SessionId | null>(MOST_REMEMBERED)

  async function parentOf(session: SessionId): Promise<SessionId | null> {
    const known = parents.get(session)
    if (known !== undefined) return known
    const record = await engine.store.session(session)
    if (!record) return null
    const parent = (record.data["parent"] ?? null) as SessionId | null
    parents.set(session, parent)
    return parent
  }

  return async (session) => {
    let above: SessionId | null = session
    for (let depth = 0; above && depth < DEEPEST; depth++) {
      if (isHere(above)) return true
      above = await parentOf(above)
    }
    return false
  }
}
