import type { Runtime } from "../../app.ts"
import { createNewestMap } from "../../base/newest-map.ts"
import type { Task } from "../format.ts"

type SessionId = NonNullable<Task["session"]>

/** No agents are so deep below each other. */
const DEEPEST = 20
const MOST_REMEMBERED = 10_000

/** A session and those above it, up to the conversation. Whose a session is does not change. */
export type SessionLine = (session: SessionId) => Promise<readonly SessionId[]>

export function createSessionLine({ engine }: Pick<Runtime, "engine">): SessionLine {
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
    const line: SessionId[] = []
    for (let above: SessionId | null = session; above && line.length < DEEPEST; above = await parentOf(above)) {
      line.push(above)
    }
    return line
  }
}
