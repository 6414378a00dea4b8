import type { JsonObject, JsonValue } from "../base/json.ts"
import type { SessionId, WorkspaceId } from "./id.ts"

/** One conversation of one agent. Every change to it or to its messages raises the version. */
export interface SessionRecord extends SessionLabels {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  /** The session above it; null if there is none. It never changes. */
  readonly parent: SessionId | null
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly data: JsonObject
  readonly messageCount: number
}

/** What is changed without a new version and without a new time, and so also beside a turn. */
export interface SessionLabels {
  readonly metadata: SessionMetadata
  /** The title that somebody gave it; null: none. */
  readonly title: string | null
}

/** Texts by key. Lists are filtered by them. */
export type SessionMetadata = Readonly<Record<string, string>>

export interface MessageRecord {
  readonly session: SessionId
  /** 1, 2, 3… within its session. */
  readonly position: number
  readonly at: number
  readonly body: JsonValue
}
