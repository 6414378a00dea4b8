import type { JsonObject, JsonValue } from "../../../base/json.ts"
import type { SessionId } from "../../../task/id.ts"
import type { MessageRecord, SessionRecord } from "../../../task/session.ts"
import type { Columns } from "./columns.ts"
import type { StoredSession } from "../tables.ts"

export type SessionRow = Columns<Omit<SessionRecord, "data">> & { readonly number: number; readonly data: string }
export type MessageRow = Columns<Pick<MessageRecord, "position" | "at">> & { readonly body: string }

export function toStoredSession(row: SessionRow): StoredSession {
  const { number, id, workspace, version, created_at, updated_at, message_count } = row
  const data = JSON.parse(row.data) as JsonObject
  const times = { createdAt: created_at, updatedAt: updated_at }
  return { number, record: { id, workspace, version, ...times, data, messageCount: message_count } }
}

export function toMessage(session: SessionId, { position, at, body }: MessageRow): MessageRecord {
  return { session, position, at, body: JSON.parse(body) as JsonValue }
}
