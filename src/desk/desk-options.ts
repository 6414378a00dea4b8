import type { Clock } from "../base/clock.ts"
import { MeanwhileError } from "../base/error.ts"
import type { WorkspaceAgentListener } from "../plugin/agent-event.ts"
import type { SessionDirectory } from "../plugin/sessions-port.ts"
import type { TaskService } from "../plugin/task-service.ts"
import type { Runner } from "../runner/runner.ts"
import type { Bus } from "../task/bus.ts"
import { DEFAULT_WORKSPACE, type SessionId, type TaskId, type WorkspaceId } from "../task/id.ts"
import type { TaskStore } from "../task/store.ts"

export interface DeskOptions {
  readonly workspace: string
  /** A label for the person or program that acts. It is stored with an answer and grants nothing. */
  readonly actor: string
}

/** The options once they are checked. */
export interface DeskOwner extends DeskOptions {
  readonly workspace: WorkspaceId
}

/** The parts that a desk is made of. Each part of the desk names those that it uses. */
export interface DeskScope extends DeskOwner {
  readonly store: TaskStore
  readonly bus: Bus
  readonly tasks: TaskService &
    Pick<Runner, "answer" | "counts" | "workers" | "leaveToOthers" | "runsHere" | "findRunHere" | "takesTurns">
  /** Promotes the calls that a turn of this process waits for. */
  readonly promote: (session: SessionId) => Promise<readonly TaskId[]>
  /** Follows the events of all agents of this process, in every workspace. */
  readonly onAgentEvent: (listener: WorkspaceAgentListener) => () => void
  readonly directory: (workspace: WorkspaceId) => Pick<SessionDirectory, "list">
  /** Goes by the store's time. */
  readonly clock: Clock
  /** Aborts when the runtime closes and its drain is over. */
  readonly closing: AbortSignal
  /** True if processes on other machines may use the store too. A data folder belongs to one machine. */
  readonly isShared: boolean
  readonly dataDirectory: string
  /** Tells stores apart that are used with the same data folder. */
  readonly storePlace: string
  /** True if this process runs tasks. */
  readonly runsTasks: boolean
}

/** The one person who uses a program that has no tenants. */
export const LOCAL_PERSON: DeskOwner = { workspace: DEFAULT_WORKSPACE, actor: "person" }

/** Refuses options that are not texts, or are empty, as `invalid_input`. */
export function toDeskOwner(options: DeskOptions): DeskOwner {
  const { workspace, actor } = options ?? {}
  requireLabel("workspace", workspace)
  requireLabel("actor", actor)
  return { workspace: workspace as WorkspaceId, actor }
}

function requireLabel(field: "workspace" | "actor", label: unknown): void {
  if (typeof label === "string" && label.trim() !== "") return
  throw new MeanwhileError("invalid_input", `A desk needs \`${field}\`: a text that is not empty.`, { field })
}
