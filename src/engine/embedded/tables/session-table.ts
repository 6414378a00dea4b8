import type { DatabaseSync } from "node:sqlite"
import type { JsonObject, JsonValue } from "../../../base/json.ts"
import type { SessionId, WorkspaceId } from "../../../task/id.ts"
import type { MessageRecord, SessionRecord } from "../../../task/session.ts"
import { LIMIT, prepare } from "../statement.ts"

export interface StoredSession {
  readonly number: number
  readonly record: SessionRecord
}

/** Where a session stands in the list. */
export interface SessionPosition {
  readonly updatedAt: number
  readonly number: number
}

export interface SessionTable {
  find(id: SessionId): StoredSession | undefined
  workspaceOf(id: SessionId): WorkspaceId | undefined
  /** The last changed first. */
  list(workspace: WorkspaceId, before: SessionPosition | undefined, limit: number): readonly StoredSession[]
  messages(id: SessionId, afterPosition: number, limit: number): readonly MessageRecord[]
  insert(record: SessionRecord): void
  save(session: StoredSession): void
  append(session: number, position: number, at: number, body: JsonValue): void
  remove(session: number): void
}

interface SessionRow {
  readonly number: number
  readonly id: SessionId
  readonly workspace: WorkspaceId
  readonly version: number
  readonly created_at: number
  readonly updated_at: number
  readonly message_count: number
  readonly data: string
}

interface MessageRow {
  readonly position: number
  readonly at: number
  readonly body: string
}

export function createSessionTable(database: DatabaseSync): SessionTable {
  const find = prepare<SessionRow>(database, "SELECT * FROM sessions WHERE id = ?")
  const workspaceOf = prepare<Pick<SessionRow, "workspace">>(database, "SELECT workspace FROM sessions WHERE id = ?")
  const list = prepare<SessionRow>(
    database,
    `SELECT * FROM sessions WHERE workspace = ? AND (updated_at, number) < (?, ?)
     ORDER BY updated_at DESC, number DESC ${LIMIT}`,
  )
  const messages = prepare<MessageRow>(
    database,
    `SELECT position, at, body FROM messages WHERE session = (SELECT number FROM sessions WHERE id = ?)
     AND position > ? ORDER BY position ${LIMIT}`,
  )
  const insert = prepare(
    database,
    `INSERT INTO sessions (id, workspace, version, created_at, updated_at, message_count, data)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const save = prepare(
    database,
    "UPDATE sessions SET version = ?, updated_at = ?, message_count = ?, data = ? WHERE number = ?",
  )
  const append = prepare(database, "INSERT INTO messages VALUES (?, ?, ?, ?)")
  const removeMessages = prepare(database, "DELETE FROM messages WHERE session = ?")
  const remove = prepare(database, "DELETE FROM sessions WHERE number = ?")
  return {
    find(id) {
      const row = find.get(id)
      return row && toStored(row)
    },
    list: (workspace, before = FIRST, limit) =>
      list.all(workspace, before.updatedAt, before.number, limit).map(toStored),
    workspaceOf: (id) => workspaceOf.get(id)?.workspace,
    messages: (session, afterPosition, limit) =>
      messages
        .all(session, afterPosition, limit)
        .map(({ position, at, body }) => ({ session, position, at, body: JSON.parse(body) as JsonValue })),
    insert({ id, workspace, version, createdAt, updatedAt, messageCount, data }) {
      insert.run(id, workspace, version, createdAt, updatedAt, messageCount, JSON.stringify(data))
    },
    save({ number, record }) {
      save.run(record.version, record.updatedAt, record.messageCount, JSON.stringify(record.data), number)
    },
    append: (session, position, at, body) => void append.run(session, position, at, JSON.stringify(body)),
    remove(session) {
      removeMessages.run(session)
      remove.run(session)
    },
  }
}

const FIRST: SessionPosition = { updatedAt: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER }

function toStored(row: SessionRow): StoredSession {
  return { number: row.number, record: toSessionRecord(row) }
}

function toSessionRecord(row: SessionRow): SessionRecord {
  const { id, workspace, version, created_at, updated_at, message_count, data } = row
  return {
    id,
    workspace,
    version,
    createdAt: created_at,
    updatedAt: updated_at,
    data: JSON.parse(data) as JsonObject,
    messageCount: message_count,
  }
}
