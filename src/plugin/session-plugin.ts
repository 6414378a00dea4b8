import type { SessionId } from "../task/id.ts"
import type { Contribution } from "./contribution.ts"
import type { PluginBase } from "./plugin-base.ts"
import type { SessionDirectory, SessionInfo, SessionState } from "./sessions-port.ts"

/**
 * Keeps conversations beyond the runtime's own store, and describes them. `initialize` hands it its configuration.
 * `load`, `list`, `delete` and `setDescription` are about the default workspace; a command or a tool finds the directory of
 * its own in its context.
 */
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
  /** May return a saved session to continue. The directory is that of the session's workspace. */
  onSessionStarted?(
    id: SessionId,
    directory: SessionDirectory,
  ): Promise<SessionState | undefined> | SessionState | undefined
  onSessionEnded?(state: SessionState): Promise<void> | void
}
