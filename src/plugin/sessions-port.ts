import type { JsonObject } from "../base/json.ts"
import type { SessionId, TaskId, WorkspaceId } from "../task/id.ts"
import type { AgentActivity, ReportedProgress, Usage } from "../task/progress.ts"
import type { SessionMetadata } from "../task/session.ts"
import type { Page, PageRequest } from "../task/store.ts"
import type { AgentBudget, Handover } from "./agent-request.ts"
import type { BackgroundTaskResult } from "./background-result.ts"
import type { Message } from "./message.ts"
import type { TokenUsage } from "./token-usage.ts"

export interface SessionInfo {
  readonly id: SessionId
  /** Absent in a state that was read from a file. */
  readonly workspace?: WorkspaceId
  /** The name its creator gave it; `main` for a conversation with a person. */
  readonly name?: string
  /** The one that somebody gave it, else the beginning of the first message; null before that. */
  readonly title?: string | null
  readonly description: string | null
  readonly turns: number
  readonly createdAt: number
  readonly updatedAt: number
  /** Texts that a program keeps with it, by key. Absent if there are none, and in older states. */
  readonly metadata?: SessionMetadata
}

/** A session as a directory lists it. */
export interface ListedSession extends SessionInfo {
  readonly workspace: WorkspaceId
  readonly metadata: SessionMetadata
}

export interface SessionQuery {
  /** Every pair must match. */
  readonly metadata?: SessionMetadata
}

export interface SessionChanges {
  /** Sets these keys; null removes one. Keys that are not named stay. */
  readonly metadata?: Readonly<Record<string, string | null>>
  /** Null: the beginning of the first message is the title again. */
  readonly title?: string | null
}

export interface ForkOptions {
  /** The last message that the fork has: its place in the log, as `desk.sessions.messages` gives it. Default: the newest. */
  readonly at?: number
}

/** A whole conversation, as plugins save and load it. */
export interface SessionState extends SessionInfo {
  readonly model: string | null
  readonly messages: readonly Message[]
  readonly data: JsonObject
  /** Unused results of its background tasks, by task. Older states have none. */
  readonly backgroundResults?: Readonly<Record<string, BackgroundTaskResult>>
  /** Documents that plugins keep for the conversation, by plugin and name. Absent if there are none, and in older states. */
  readonly documents?: Readonly<Record<string, JsonObject>>
}

/** The conversations of one workspace. */
export interface SessionDirectory {
  readonly workspace: WorkspaceId
  /**
   * Last used first, without the sessions of subagents. A page has at most 1,000, and 100 unless its limit is given.
   * Sessions that are added between two pages move none from one to the other; one that is used then moves to the front.
   */
  list(query?: SessionQuery, page?: Partial<PageRequest>): Promise<Page<ListedSession>>
  /** Undefined if there is no such session. */
  load(id: string): Promise<SessionState | undefined>
  /** Creates a conversation from a saved one, under the saved id if that is free. */
  restore(state: SessionState): Promise<SessionId>
  /** Stops the conversation's tasks and removes it. False if there was none. */
  delete(id: string): Promise<boolean>
  describe(id: string, description: string): Promise<void>
  /** Changes what is not part of the conversation, also while a turn runs. The session does not count as used by it. */
  update(id: string, changes: SessionChanges): Promise<ListedSession>
  /**
   * Creates a conversation with the same past: everything up to a message, the model, tools, instructions, metadata and what
   * plugins keep of it. Its metadata name the first one as `forkedFrom`. It has no tasks and no results of tasks. Where that
   * message asks for calls that are not answered by then, the past ends before it.
   */
  fork(id: string, options?: ForkOptions): Promise<ListedSession>
}

export interface ChildSessionOptions {
  /**
   * Names the child within its run, so that the run finds it again after a crash: see `createChild`. Without a key
   * every call makes a new child.
   */
  readonly key?: string
  /** Shown to people beside the child's text. */
  readonly name: string
  /** Default: its parent's. */
  readonly model?: string
  /**
   * Names of tools, or of plugins for all their tools. Tools that the parent does not have are left out, and unknown
   * names are refused. Default: all tools of the parent.
   */
  readonly tools?: readonly string[]
  readonly instructions?: string
}

export interface ChildTurn {
  readonly turn: TaskId
  readonly text: string
  readonly usage: TokenUsage
  /** The input of the child's last `finish` call, unchanged; null if it made none. */
  readonly handedBack: JsonObject | null
  /** Why the child was asked to hand back what it had; null if it ended by itself. */
  readonly budgetEnd: string | null
}

/** `isLast`: the child has its answer, and calls its model no more unless it is woken. */
export type ChildSpending = (usage: Usage, options: { readonly isLast: boolean }) => void

export interface ChildSendOptions {
  readonly signal?: AbortSignal
  /** Called for every model call of the child with what it cost, however the turn ends. */
  readonly onSpent?: ChildSpending
  /** Called whenever the child calls a tool or its phase changes. */
  readonly onActivity?: (activity: AgentActivity, phase: string) => void
  /**
   * Called when the child says that it has reached a milestone. After a crash it is called again for the milestones of
   * this run that are known by then: `key` tells one from another.
   */
  readonly onMilestone?: (reached: ReportedProgress, key: string) => void
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
   * Rejects if the turn fails or is stopped. If a child that was found again has had this turn, or is in it, the
   * message is not sent a second time: the end of that turn is the answer.
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
   * Refused as `wrong_state` without a session to be the parent.
   *
   * Contract: in a session that is stored, the same run, or the same call of a turn made again after a crash, gets the
   * same child for the same `key`, with its whole conversation.
   */
  createChild(options: ChildSessionOptions): Promise<ChildSession>
  /** The child of an earlier run of the same task, with its whole conversation. Refused as `expired` if it was deleted. */
  openChild(id: string): Promise<ChildSession>
  /** The conversation of this call, as it is handed to a subagent. Empty for `none`. */
  handOver(mode: Handover): Promise<string>
  /** The tools that the session's model can call: no other tool may be started on its behalf. */
  offers(): readonly OfferedTool[]
  /** Aborted when somebody says something new in the session while this turn runs. */
  readonly newMessage: AbortSignal
}
