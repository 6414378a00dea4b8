import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { Session, SessionOptions } from "../conversation/session.ts"

/** How subagents come to be. */
export interface ChildScope {
  readonly createSession: (options: SessionOptions) => Promise<Session>
  readonly openSession: (id: SessionId, workspace: WorkspaceId) => Promise<Session>
  /** How many subagents are being made, by their parent. */
  readonly comingChildren: Map<SessionId, number>
  /** Told of every subagent: what its parent was allowed may hold for it too. */
  readonly onChild: (child: SessionId, parent: SessionId) => void
}
