import type { TurnAccounting } from "../plugin/agent-event.ts"
import type { GcConfig, GcPlugin } from "../plugin/gc-plugin.ts"
import type { ConnectedModel } from "../plugin/model.ts"
import type { ChildSpending } from "../plugin/sessions-port.ts"
import type { SessionPlugin } from "../plugin/session-plugin.ts"
import type { TaskId } from "../task/id.ts"
import type { AgentEmitter, AgentEvents } from "./agent-emitter.ts"
import type { SessionLog } from "./log/session-log.ts"
import type { TurnBudget } from "./turn/turn-budget.ts"

/** A session that is open in this process. */
export interface Conversation {
  readonly log: SessionLog
  readonly emitter: AgentEmitter & AgentEvents
  model: ConnectedModel
  gc: { readonly plugin: GcPlugin; readonly config: GcConfig } | null
  sessionPlugin: SessionPlugin | null
  readonly turns: TurnAccounting[]
  /** What runs now. */
  current: { readonly abort: AbortController; taskId: TaskId | null; reason: string | null } | null
  /** Tasks of it may have ended since it last looked. A session that is kept may have some from before. */
  hasTasks: boolean
  /** The call that a subagent works for pays as the subagent does. */
  onSpent: ChildSpending | null
  /** Of the turn that runs; null without one, and when it has none. */
  budget: TurnBudget | null
  /** Turns, commands and other changes of the log, one after the other. */
  queue: Promise<unknown>
}

/** One after the other, whatever becomes of those before. */
export function inTurn<Result>(conversation: Conversation, work: () => Promise<Result>): Promise<Result> {
  const done = conversation.queue.then(work)
  conversation.queue = done.catch(() => {})
  return done
}
