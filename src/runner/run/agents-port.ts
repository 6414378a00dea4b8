import type { SessionId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"

/** What the runner asks of whoever keeps the conversations of agents. */
export interface AgentsPort {
  /** The conversation of an agent task; null before it has one, and when it is gone. */
  sessionOf(task: TaskRecord): Promise<SessionId | null>
  /** Hands a running agent a message at its next tool boundary. Resolves once the message is durable. */
  say(task: TaskRecord, session: SessionId, text: string): Promise<void>
}
