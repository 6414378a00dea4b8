import type {
  AgentEvent,
  AgentListener,
  AgentStatus,
  OutputMode,
  OutputSource,
  TurnAccounting,
} from "../plugin/agent-event.ts"
import type { ContextUsage } from "../plugin/context-usage.ts"
import type { Message } from "../plugin/message.ts"
import type { JsonValue } from "../base/json.ts"
import type { SessionId } from "../task/id.ts"

/** Hooks of a user interface, each told of the main agent or of a subagent. All are optional, and may be asynchronous. */
export interface UiHooks {
  onAgentCreated?(agent: SessionId, created: { readonly name: string; readonly parent: SessionId | null }): unknown
  onAgentStatusChanged?(agent: SessionId, status: AgentStatus): unknown
  onAgentOutput?(agent: SessionId, source: OutputSource, text: string, mode: OutputMode): unknown
  onToolCallStart?(agent: SessionId, tool: string, input: JsonValue): unknown
  onToolCallEnd?(agent: SessionId, tool: string, isSuccess: boolean, durationSeconds: number): unknown
  onAgentTurnCompleted?(agent: SessionId, turn: TurnAccounting): unknown
  onAgentContextUpdated?(agent: SessionId, usage: ContextUsage): unknown
  onAgentHistoryUpdated?(agent: SessionId, history: readonly Message[]): unknown
  onAgentCompleted?(agent: SessionId, text: string): unknown
}

/** The hooks as a listener of events. */
export function toListener(hooks: UiHooks): AgentListener {
  return (event: AgentEvent) => {
    const { agent } = event
    switch (event.type) {
      case "agent.created":
        return hooks.onAgentCreated?.(agent, { name: event.name, parent: event.parent })
      case "agent.status_changed":
        return hooks.onAgentStatusChanged?.(agent, event.status)
      case "agent.output":
        return hooks.onAgentOutput?.(agent, event.source, event.text, event.mode)
      case "tool_call.started":
        return hooks.onToolCallStart?.(agent, event.tool, event.input)
      case "tool_call.ended":
        return hooks.onToolCallEnd?.(agent, event.tool, event.isSuccess, event.durationMs / 1_000)
      case "turn.completed":
        return hooks.onAgentTurnCompleted?.(agent, event.accounting)
      case "context.updated":
        return hooks.onAgentContextUpdated?.(agent, event.usage)
      case "history.updated":
        return hooks.onAgentHistoryUpdated?.(agent, event.messages)
      case "agent.completed":
        return hooks.onAgentCompleted?.(agent, event.text)
      default:
        return undefined
    }
  }
}
