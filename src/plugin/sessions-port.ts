import type { JsonObject } from "../base/json.ts"
import type { SessionId, TaskId } from "../task/id.ts"
import type { AgentActivity, Usage } from "../task/progress.ts"
import type { AgentBudget, Handover } from "./agent-request.ts"
import type { BackgroundTaskResult } from "./background-result.ts"
import type { Message } from "./message.ts"
import type { TokenUsage } from "./token-usage.ts"

export interface SessionInfo {
  readonly id: SessionId
  /** The name its creator gave it; `main` for a conversation with a person. */
  readonly name?: string
  /** The beginning of the first message, until there is a description; null before it. */
  readonly title?: string | null
  readonly description: string | null
  readonly turns: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** A whole conversation, as plugins save and load it. */
export interface SessionState extends SessionInfo {
  readonly model: string | null
  readonly messages: readonly Message[]
  readonly data: JsonObject
  /** Unused results of its background tasks, by task. Older states have none. */
  readonly backgroundResults?: Readonly<Record<string, BackgroundTaskResult>>
  /** Documents that plugins keep for it, by plugin and name. Absent if there are none, and in older states. */
  readonly documents?: Readonly<Record<string, JsonObject>>
}

/** The conversations of one workspace. */
export interface SessionDirectory {
  /** The last used first, without those of subagents. */
  list(limit?: number): Promise<readonly SessionInfo[]>
  /** Undefined when there is none. */
  load(id: SessionId): Promise<SessionState | undefined>
  /** Makes a conversation of a saved one, under its own id when that is free. */
  restore(state: SessionState): Promise<SessionId>
  /** Stops its tasks and removes it. False when there was none. */
  delete(id: SessionId): Promise<boolean>
  describe(id: SessionId, description: string): Promise<void>
}

export interface ChildSessionOptions {
  /**
   * Names the child among those of its run, so that the run finds it again after a crash: see `createChild`. Without it
   * the child is a new one each time.
   */
  readonly key?: string
  /** Shown to people beside what it says. */
  readonly name: string
  /** Default: its parent's. */
  readonly model?: string
  /**
   * Names of tools, or of plugins for all of theirs, of those its parent has: others are left out, and names that
   * nobody knows are refused. Default: all its parent has.
   */
  readonly tools?: readonly string[]
  readonly instructions?: string
}

export interface ChildTurn {
  readonly turn: TaskId | null
  readonly text: string
  readonly usage: TokenUsage
  /** The input of its last `finish` call, unchanged; null if it made none. */
  readonly handedBack: JsonObject | null
  /** Why it was asked to hand back what it had; null when it came to its own end. */
  readonly budgetEnd: string | null
}

/** `isLast`: the child has its answer, and asks its model no more unless it is woken. */
export type ChildSpending = (usage: Usage, options: { readonly isLast: boolean }) => void

export interface ChildSendOptions {
  readonly signal?: AbortSignal
  /** Told of every model call of the child as it is paid for, whatever becomes of the turn. */
  readonly onSpent?: ChildSpending
  /** Told whenever it calls a tool, or its phase changes. */
  readonly onActivity?: (activity: AgentActivity, phase: string) => void
  readonly budget?: AgentBudget
  /**
   * The request itself, if the message holds more than that: shown to people and used as title. Default: the whole
   * message.
   */
  readonly said?: string
}

/** A subagent: a session of the same runtime, below the one that made it. */
export interface ChildSession {
  readonly id: SessionId
  /**
   * Rejects when the turn fails or is stopped. When a child that was found again has had its turn, or is in it, the
   * message is not sent a second time: that turn's end is the answer.
   */
  send(message: string, options?: ChildSendOptions): Promise<ChildTurn>
  close(): Promise<void>
}

export interface OfferedTool {
  readonly plugin: string
  readonly tool: string
}

/** Operations on conversations that a plugin can use. */
export interface SessionsPort {
  readonly directory: SessionDirectory
  /**
   * Refused as `wrong_state` where there is no session to be the parent.
   *
   * Contract: of a session that is kept, the same run, or the same call of a turn that is made again after a crash,
   * gets the same child for the same `key`, with all that was said in it.
   */
  createChild(options: ChildSessionOptions): Promise<ChildSession>
  /**
   * The child of an earlier run of the same task, with all that was said in it. Refused as `expired` when it is gone.
   */
  openChild(id: SessionId): Promise<ChildSession>
  /** The conversation of this call as an agent below it is told of it. Empty for `none`. */
  handOver(mode: Handover): Promise<string>
  /** The tools that the session's model can call: no other tool may be started on its behalf. */
  offers(): readonly OfferedTool[]
  /** Aborted when somebody says something new in the session while this turn runs. */
  readonly newMessage: AbortSignal
}
