import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import type { SessionState } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"

/** Where a session plugin keeps conversations. What people and models can do with them is the same for all shelves. */
export interface SessionShelf extends Pick<SessionPlugin, "load" | "list" | "delete" | "setDescription"> {
  /** Returns, for the person, where it now is. */
  save(state: SessionState): Promise<string>
  /** Makes sure that the runtime can go on with it; the id to go on with. */
  open(id: SessionId): Promise<SessionId>
}
