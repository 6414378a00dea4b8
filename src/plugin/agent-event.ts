import type { JsonValue } from "../base/json.ts"
import type { TaskEvent } from "../task/event.ts"
import type { GroupId, SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import type { Progress } from "../task/progress.ts"
import type { ContextUsage } from "./context-usage.ts"
import type { Message } from "./message.ts"
import type { TokenUsage } from "./token-usage.ts"

export type AgentStatus = "active" | "done" | "error"

/** How one turn came out. */
export type TurnOutcome = "completed" | "stopped" | "failed"

/** Tokens, cost and time of one turn. */
export interface TurnAccounting {
  /** Its task; null in a session that is not kept. */
  readonly turn: TaskId | null
  readonly outcome: TurnOutcome
  readonly model: string
  readonly modelCalls: number
  readonly toolCalls: number
  readonly usage: TokenUsage
  /** Null when a price is not known. */
  readonly costMicros: number | null
  readonly durationMs: number
}

/** Where a text comes from. `tool`: what a running call prints. */
export type OutputSource = "model" | "reasoning" | "tool" | "user" | "system"

/** `append` continues the text before it, `write` begins a new one. */
export type OutputMode = "write" | "append"

/** Events of a working agent: the nine hooks of a user interface, deltas, and the tasks it started. */
export type AgentEventBody =
  | { readonly type: "agent.created"; readonly name: string; readonly parent: SessionId | null; readonly model: string }
  | { readonly type: "agent.status_changed"; readonly status: AgentStatus; readonly reason?: string }
  | {
      readonly type: "agent.output"
      readonly source: OutputSource
      readonly text: string
      readonly mode: OutputMode
      /** For output of a tool: the call that printed it. */
      readonly callId?: string
    }
  | {
      readonly type: "tool_call.started"
      readonly callId: string
      readonly tool: string
      readonly input: JsonValue
      /** When it moves to the background; absent when it does not. */
      readonly backgroundAfterMs?: number
    }
  /** A person is asked whether it may run. */
  | { readonly type: "tool_call.asked"; readonly callId: string; readonly tool: string }
  /** They said yes: it runs from here on. */
  | { readonly type: "tool_call.allowed"; readonly callId: string; readonly tool: string }
  /** How far it is, while it is in the foreground: the newest, ten times a second at most. */
  | {
      readonly type: "tool_call.progressed"
      readonly callId: string
      readonly tool: string
      readonly progress: Progress
    }
  | {
      readonly type: "tool_call.ended"
      readonly callId: string
      readonly tool: string
      readonly isSuccess: boolean
      /** It was not allowed, by a person or by the policy: nothing of it was done. */
      readonly isRefused: boolean
      /** Since it began, or since it was allowed: not the time in which a person was asked. */
      readonly durationMs: number
      /** The task it goes on as, when it moved to the background. */
      readonly taskId: TaskId | null
      /** How long that task may run in all, when there is a limit. */
      readonly timeoutMs?: number
      /** Tasks that it has started, when it is a tool that does. */
      readonly started?: readonly TaskId[]
      /** That task waits for a person's approval: nothing of it was done yet. */
      readonly isAwaitingApproval?: true
      /** One line for people. */
      readonly summary: string
    }
  /** Told before the end is durable: a store that then fails makes `send` reject all the same. */
  | { readonly type: "turn.completed"; readonly accounting: TurnAccounting }
  | { readonly type: "context.updated"; readonly usage: ContextUsage }
  | { readonly type: "history.updated"; readonly messages: readonly Message[] }
  | { readonly type: "agent.completed"; readonly text: string }
  /** A piece of an answer as the model writes it; the whole follows as `agent.output` of source `model`. */
  | { readonly type: "content.delta"; readonly source: "model" | "reasoning"; readonly text: string }
  /** The deltas since the last whole output are void: the call is made again. */
  | { readonly type: "content.reset"; readonly reason: string }
  | { readonly type: "model_call.retried"; readonly attempt: number; readonly afterMs: number; readonly reason: string }
  | { readonly type: "context.collected"; readonly summary: string; readonly removedMessages: number }
  | { readonly type: "task.changed"; readonly event: TaskEvent }
  /** A turn begins that nobody asked for, to tell what these tasks came to. Comes before its `agent.status_changed`. */
  | { readonly type: "report.started"; readonly tasks: readonly ReportedTask[]; readonly group: ReportedGroup | null }
  /** The agent tells of background results without being asked. Its text came as `agent.output` before. */
  | { readonly type: "report.published"; readonly report: PublishedReport }
  /** For the person alone: results that no report was made of. The model hears of them with the next message. */
  | {
      readonly type: "notification.shown"
      readonly text: string
      readonly taskIds: readonly TaskId[]
      /** Why the agent does not report of them by itself, where a limit says so: `after 3 reports in a row …`. */
      readonly why?: string
    }

export interface ReportedTask {
  readonly id: TaskId
  /** One line for people; of others, and data. */
  readonly title: string
}

export interface ReportedGroup {
  readonly id: GroupId
  readonly name: string
}

export interface PublishedReport {
  readonly messageId: string
  readonly text: string
  readonly channel: "answer"
  readonly done: true
  readonly proactive: true
  readonly taskIds: readonly TaskId[]
  readonly groupId: GroupId | null
}

/** Every event names its agent: the session, of the main agent or of a subagent below it. */
export type AgentEvent = AgentEventBody & { readonly agent: SessionId }

export type AgentListener = (event: AgentEvent) => void

/** Is told the workspace of the agent, too. */
export type WorkspaceAgentListener = (event: AgentEvent, workspace: WorkspaceId) => void
