import type { JsonObject } from "../base/json.ts"
import type { SessionId, TaskId } from "../task/id.ts"
import type { Message } from "./message.ts"
import type { TokenUsage } from "./token-usage.ts"

export interface SessionInfo {
  readonly id: SessionId
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
}

/** The conversations of one workspace. */
export interface SessionDirectory {
  /** The last used first. */
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
  /** Shown to people beside what it says. */
  readonly name: string
  /** Default: its parent's. */
  readonly model?: string
  /** Names of tools, or of plugins for all of theirs. Default: its parent's. */
  readonly tools?: readonly string[]
  readonly instructions?: string
}

export interface ChildTurn {
  readonly turn: TaskId | null
  readonly text: string
  readonly usage: TokenUsage
}

/** A subagent: a session of the same runtime, below the one that made it. */
export interface ChildSession {
  readonly id: SessionId
  /** Rejects when the turn fails or is stopped. */
  send(message: string, options?: { readonly signal?: AbortSignal }): Promise<ChildTurn>
  close(): Promise<void>
}

/** What a plugin can do with conversations. */
export interface SessionsPort {
  readonly directory: SessionDirectory
  /** Refused as `wrong_state` where there is no session to be the parent. */
  createChild(options: ChildSessionOptions): Promise<ChildSession>
}
