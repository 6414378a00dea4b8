import type { JsonObject, JsonValue } from "../../../base/json.ts"
import type { SessionId, WorkspaceId } from "../../../task/id.ts"
import type { MessageRecord, SessionMetadata } from "../../../task/session.ts"
import type { StoredSession } from "../tables.ts"

export interface SessionRow {
  readonly number: number
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly version: number
  readonly created_at: number
  readonly updated_at: number
  readonly message_count: number
  readonly data: string
  readonly parent: SessionId | null
  readonly title: string | null
  readonly metadata: string
}

export interface MessageRow {
  readonly position: number
  readonly at: number
  readonly body: string
}

export function toStoredSession(row: SessionRow): StoredSession {
  const { number, id, workspace, parent, version, created_at, updated_at, message_count, title } = row
  const data = JSON.parse(row.data) as JsonObject
  const times = { createdAt: created_at, updatedAt: updated_at }
  const labels = { metadata: JSON.parse(row.metadata) as SessionMetadata, title }
  return { number, record: { id, workspace, parent, version, ...times, data, messageCount: message_count, ...labels } }
}

export function toMessage(session: SessionId, { position, at, body }: MessageRow): MessageRecord {
  return { session, position, at, body: JSON.parse(body) as JsonValue }
}
