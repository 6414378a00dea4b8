import type { Runtime } from "../../app.ts"
import type { Task } from "../format.ts"
import type { LastAnnouncement, SessionId } from "./last-announcement.ts"
import { createSessionLine } from "./session-line.ts"

export interface ToldHereOptions {
  readonly meanwhile: Pick<Runtime, "engine">
  readonly last: LastAnnouncement
  /** Whether this session is the conversation, or an agent of it. */
  readonly isHere: (session: SessionId) => boolean
}

/**
 * Whether the end of a task is for whoever sits here. In a store that a team shares most are others', also of what runs
 * here: they are told by whoever opens their conversation. An agent of the own one may run in another process.
 */
export function createToldHere({
  meanwhile,
  last,
  isHere,
}: ToldHereOptions): (task: Pick<Task, "id" | "session">) => Promise<boolean> {
  const lineOf = createSessionLine(meanwhile)
  return async ({ id, session }) => {
    if (meanwhile.engine.name === "embedded") return true
    return session === null ? last.isPromised(id) : (await lineOf(session)).some(isHere)
  }
}
