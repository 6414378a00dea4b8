import type { SessionId } from "../task/id.ts"
import type { Contribution } from "./contribution.ts"
import type { PluginBase } from "./plugin-base.ts"
import type { SessionInfo, SessionState } from "./sessions-port.ts"

/** Keeps conversations beyond the runtime's own store, and describes them. `initialize` hands it its configuration. */
export interface SessionPlugin extends PluginBase, Contribution {
  readonly kind: "session"
  save(state: SessionState): Promise<void>
  load(id: SessionId): Promise<SessionState | undefined>
  list(): Promise<readonly SessionInfo[]>
  /** False if there was no such session. */
  delete(id: SessionId): Promise<boolean>
  setDescription(id: SessionId, description: string): Promise<void>
  /** True if the model should be asked for a description now. */
  needsDescription(state: SessionInfo): boolean
  onTurnCompleted?(state: SessionState): Promise<void> | void
  /** May return a saved session to continue. */
  onSessionStarted?(id: SessionId): Promise<SessionState | undefined> | SessionState | undefined
  onSessionEnded?(state: SessionState): Promise<void> | void
}
