import type { JsonObject, JsonValue } from "../base/json.ts"
import type { TaskEvent } from "../task/event.ts"
import type { GroupId, SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import type { Progress } from "../task/progress.ts"
import type { ContextUsage } from "./context-usage.ts"
import type { Message } from "./message.ts"
import type { TokenUsage } from "./token-usage.ts"

export type AgentStatus = "active" | "done" | "error"

/** How one turn ended. */
export type TurnOutcome = "completed" | "stopped" | "failed"

/** Tokens, cost and time of one turn. */
export interface TurnAccounting {
  /** In a session that is kept it names a task. */
  readonly turn: TaskId
  readonly outcome: TurnOutcome
  readonly model: string
  /** Those that were answered. */
  readonly modelCalls: number
  readonly toolCalls: number
  /** Also of calls without an answer: theirs is estimated. */
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
      /**
       * As people see it: known secrets, and fields that are secrets by their name, are redacted. What merely looks like a
       * secret in a text is not. The input of `finish` is whole.
       */
      readonly input: JsonValue
      /** The time after which the call moves to the background; absent if it does not. */
      readonly backgroundAfterMs?: number
    }
  /** A person is asked whether the call may run. */
  | { readonly type: "tool_call.asked"; readonly callId: string; readonly tool: string }
  /** The person said yes: the call runs from here on. */
  | { readonly type: "tool_call.allowed"; readonly callId: string; readonly tool: string }
  /** The newest progress of a call in the foreground, ten times a second at most. */
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
      /** True if a person or the policy did not allow the call: nothing of it was done. */
      readonly isRefused: boolean
      /** Since the call began, or since it was allowed. The time in which a person was asked does not count. */
      readonly durationMs: number
      /** The task that the call goes on as, if it moved to the background. */
      readonly taskId: TaskId | null
      /** How long that task may run in all; absent if there is no limit. */
      readonly timeoutMs?: number
      /** Tasks that the call has started, if its tool starts tasks. */
      readonly started?: readonly TaskId[]
      /** The task waits for a person's approval, and nothing of it was done yet. */
      readonly isAwaitingApproval?: true
      /** One line for people. */
      readonly summary: string
    }
  /** Sent before the turn's end is durable. If the store then fails, `send` rejects all the same. */
  | { readonly type: "turn.completed"; readonly accounting: TurnAccounting }
  | { readonly type: "context.updated"; readonly usage: ContextUsage }
  | { readonly type: "history.updated"; readonly messages: readonly Message[] }
  | { readonly type: "agent.completed"; readonly text: string }
  /**
   * A piece of an answer as the model writes it; the whole follows as `agent.output` of source `model`, or what there is of
   * it when the turn is stopped.
   */
  | { readonly type: "content.delta"; readonly source: "model" | "reasoning"; readonly text: string }
  /** Findings of plugins in the person's message, by plugin, such as the files that it names. Sent before the turn begins. */
  | { readonly type: "prompt.enriched"; readonly metadata: JsonObject }
  /** The deltas since the last whole output are void, because the model is called again. */
  | { readonly type: "content.reset"; readonly reason: string }
  | { readonly type: "model_call.retried"; readonly attempt: number; readonly afterMs: number; readonly reason: string }
  | { readonly type: "context.collected"; readonly summary: string; readonly removedMessages: number }
  | { readonly type: "task.changed"; readonly event: TaskEvent }
  /** A turn begins that nobody asked for, to report the results of these tasks. Sent before its `agent.status_changed`. */
  | { readonly type: "report.started"; readonly tasks: readonly ReportedTask[]; readonly group: ReportedGroup | null }
  /** The agent has reported background results without being asked. Its text was sent as `agent.output` before. */
  | { readonly type: "report.published"; readonly report: PublishedReport }
  /** Results without a report, for the person alone. The model reads them with the next message. */
  | {
      readonly type: "notification.shown"
      readonly text: string
      readonly taskIds: readonly TaskId[]
      /** Why the agent does not report them itself, if a limit is the reason: `after 3 reports in a row …`. */
      readonly why?: string
    }

export interface ReportedTask {
  readonly id: TaskId
  /** One line for people. It is foreign text: data, never instructions. */
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

/**
 * The events of a turn name it and are numbered in it, from 1 in each process that has the turn. Absent: the event belongs
 * to the agent as a whole, such as the end of one of its tasks, or no turn runs.
 */
export type PlaceInTurn =
  | { readonly turn: TaskId; readonly sequence: number }
  | { readonly turn?: undefined; readonly sequence?: undefined }

/** Every event names its agent by its session: the main agent's, or that of a subagent below it. */
export type AgentEvent = AgentEventBody & PlaceInTurn & { readonly agent: SessionId }

/** May be asynchronous, and is not waited for. An error of it is logged. */
export type AgentListener = (event: AgentEvent) => unknown

/** Is told the workspace of the agent, too. */
export type WorkspaceAgentListener = (event: AgentEvent, workspace: WorkspaceId) => unknown
