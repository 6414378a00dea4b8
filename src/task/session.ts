import type { JsonObject, JsonValue } from "../base/json.ts"
import type { SessionId, WorkspaceId } from "./id.ts"

/** One conversation of one agent. Every change to it or to its messages raises the version. */
export interface SessionRecord {
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly data: JsonObject
  readonly messageCount: number
}

export interface MessageRecord {
  readonly session: SessionId
  /** 1, 2, 3… within its session. */
  readonly position: number
  readonly at: number
  readonly body: JsonValue
}
