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
  /** Many tasks of one session are asked about at once: the first has it looked up. */
  const parents = createNewestMap<SessionId, Promise<SessionId | null>>(MOST_REMEMBERED)

  async function readParent(session: SessionId): Promise<SessionId | null> {
    try {
      const record = await engine.store.session(session)
      if (record) return (record.data["parent"] ?? null) as SessionId | null
      parents.delete(session)
      return null
    } catch (error) {
      parents.delete(session)
      throw error
    }
  }

  function parentOf(session: SessionId): Promise<SessionId | null> {
    const known = parents.get(session)
    if (known) return known
    const reading = readParent(session)
    parents.set(session, reading)
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
