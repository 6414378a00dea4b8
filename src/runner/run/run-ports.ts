import type { ConversationPortsOf } from "../../plugin/context.ts"
import type { TaskService } from "../../plugin/task-service.ts"
import type { SessionId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { ActiveRun } from "./active-run.ts"

/** Services that a run reaches beyond its own work. */
export interface RunPorts {
  /** The task service as `context.tasks` has it: bound to one run. */
  bindTasks(active: ActiveRun): TaskService
  /** Gives a tool its sessions, model and person; null in a runner without conversations. */
  readonly conversations: ConversationPortsOf | null
  /** The conversations of agent tasks; null in a runner without any. */
  readonly agents: AgentsPort | null
}

/** Questions of the runner to the conversations of agents. */
export interface AgentsPort {
  /** The conversation of an agent task; null before it has one, and when it is gone. */
  sessionOf(task: TaskRecord): Promise<SessionId | null>
  /** Hands a running agent a message at its next tool boundary. Resolves once the message is durable. */
  say(task: TaskRecord, session: SessionId, text: string): Promise<void>
}
