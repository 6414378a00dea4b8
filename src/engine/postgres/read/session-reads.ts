import type { TaskStore } from "../../../task/store.ts"
import { parseCursor, requirePageLimit, toCursor } from "../../rules/cursor.ts"
import { type MessageRow, type SessionRow, toMessage, toStoredSession } from "../../rules/rows/session-row.ts"
import type { Query } from "../connection/database.ts"
import { toLimit, toPageLimit, toPlace } from "./conditions.ts"

const SESSION = { name: "session", text: "SELECT * FROM sessions WHERE id = $1" }

const SESSIONS = {
  name: "sessions",
  text: `SELECT * FROM sessions WHERE workspace = $1 AND (updated_at, number) < ($2, $3)
    ORDER BY updated_at DESC, number DESC LIMIT $4`,
}

const MESSAGES = {
  name: "messages",
  text: `SELECT position, at, body FROM messages WHERE session = (SELECT number FROM sessions WHERE id = $1)
    AND position > $2::bigint ORDER BY position LIMIT $3`,
}

const FIRST = { at: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER }

export function createSessionReads(query: Query): Pick<TaskStore, "session" | "sessions" | "messages"> {
  return {
    async session(id) {
      const [row] = await query<SessionRow>(SESSION, [id])
      return row && toStoredSession(row).record
    },
    /** Last changed first. A session that changes or is created between two pages may be on neither of them. */
    async sessions(workspace, { limit, cursor }) {
      requirePageLimit(limit, "sessions")
      const after = cursor === undefined ? FIRST : parseCursor(cursor)
      const rows = await query<SessionRow>(SESSIONS, [workspace, after.at, after.number, toPageLimit(limit)])
      const items = rows.slice(0, limit).map((row) => toStoredSession(row).record)
      const last = rows[limit - 1]
      if (rows.length <= limit || !last) return { items }
      return { items, cursor: toCursor({ at: last.updated_at, number: last.number }) }
    },
    async messages(id, afterPosition, limit) {
      const rows = await query<MessageRow>(MESSAGES, [id, toPlace(afterPosition), toLimit(limit)])
      return rows.map((row) => toMessage(id, row))
    },
  }
}
