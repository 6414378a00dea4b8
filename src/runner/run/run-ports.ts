import type { ConversationPortsOf } from "../../plugin/context.ts"
import type { TaskService } from "../../plugin/task-service.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { TaskStore } from "../../task/store.ts"
import type { ActiveRun } from "./active-run.ts"

/** Services that a run reaches beyond its own work. */
export interface RunPorts {
  /** The task service as `context.tasks` has it: bound to one run. */
  bindTasks(active: ActiveRun): TaskService
  readonly conversations: ConversationsPort
}

/** The conversations of this process, as a runner asks them. A runner may have none. */
export interface ConversationsPort {
  /** Gives tools their `sessions`, `model`, `person` and `documents`. Without it, using these throws. */
  readonly portsOf?: ConversationPortsOf
  /** Knows the conversations of agent tasks. Without it no agent can be resumed or told anything. */
  readonly agents?: AgentsPort
  /** The sessions that are open here: for a runner that takes only its own work, or runs no tasks. */
  readonly open?: () => readonly SessionId[]
  /** The workspace of a conversation that this process has in memory. */
  readonly workspaceOf?: (session: SessionId) => WorkspaceId | undefined
}

/** Questions of the runner to the conversations of agents. */
export interface AgentsPort {
  /** The conversation of an agent task; null before it has one, and when it is gone. */
  sessionOf(task: TaskRecord): Promise<SessionId | null>
  /** Hands a running agent a message at its next tool boundary. Resolves once the message is durable in `store`. */
  say(task: TaskRecord, session: SessionId, text: string, store: TaskStore): Promise<void>
}
