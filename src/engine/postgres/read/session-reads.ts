import type { SessionFilter, TaskStore } from "../../../task/store.ts"
import type { WorkspaceId } from "../../../task/id.ts"
import { parseCursor, type Position, requirePageLimit, toCursor } from "../../rules/cursor.ts"
import { type MessageRow, type SessionRow, toMessage, toStoredSession } from "../../rules/rows/session-row.ts"
import { createNaming } from "../connection/connection.ts"
import type { Query } from "../connection/database.ts"
import { createConditions, toLimit, toPageLimit, toPlace } from "./conditions.ts"

const SESSION = { name: "session", text: "SELECT * FROM sessions WHERE id = $1" }

const MESSAGES = {
  name: "messages",
  text: `SELECT position, at, body FROM messages WHERE session = (SELECT number FROM sessions WHERE id = $1)
    AND position > $2::bigint ORDER BY position LIMIT $3`,
}

/** Jumps from one workspace to the next in the index. */
const WORKSPACES = {
  name: "session workspaces",
  text: `WITH RECURSIVE known (workspace) AS (
      SELECT min(workspace) FROM sessions WHERE workspace > $1
      UNION ALL SELECT (SELECT min(workspace) FROM sessions WHERE workspace > known.workspace) FROM known
      WHERE known.workspace IS NOT NULL)
    SELECT workspace FROM known WHERE workspace IS NOT NULL LIMIT $2`,
}

/** How many kinds of lists get named statements. */
const MOST_NAMES = 50

type SessionReads = Pick<TaskStore, "session" | "sessions" | "sessionWorkspaces" | "messages">

export function createSessionReads(query: Query): SessionReads {
  const statementOf = createNaming(MOST_NAMES)
  return {
    async session(id) {
      const [row] = await query<SessionRow>(SESSION, [id])
      return row && toStoredSession(row).record
    },
    async sessions(filter, { limit, cursor }) {
      requirePageLimit(limit, "sessions")
      const after = cursor === undefined ? toFirst(filter) : parseCursor(cursor)
      const { text, values } = toSessionQuery(filter, after, toPageLimit(limit))
      const rows = await query<SessionRow>(filter.metadata ? text : statementOf(text), values)
      const items = rows.slice(0, limit).map((row) => toStoredSession(row).record)
      const last = rows[limit - 1]
      if (rows.length <= limit || !last) return { items }
      return { items, cursor: toCursor({ at: last.updated_at, number: last.number }) }
    },
    async sessionWorkspaces(after, limit) {
      const rows = await query<{ workspace: WorkspaceId }>(WORKSPACES, [after ?? "", toLimit(limit)])
      return rows.map(({ workspace }) => workspace)
    },
    async messages(id, afterPosition, limit) {
      const rows = await query<MessageRow>(MESSAGES, [id, toPlace(afterPosition), toLimit(limit)])
      return rows.map((row) => toMessage(id, row))
    },
  }
}

/** Where the first page begins. */
function toFirst({ changedBefore }: SessionFilter): Position {
  if (changedBefore !== undefined) return { at: toPlace(Math.ceil(changedBefore)), number: 0 }
  return { at: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER }
}

/**
 * With metadata the statement has no name, so that the server plans it for its values: it knows whether a pair is that of
 * most sessions or of few.
 */
export function toSessionQuery({ workspace, parent, metadata = {} }: SessionFilter, after: Position, limit: number) {
  const conditions = createConditions()
  const { bind, demand } = conditions
  // A parent has few: the server may not walk through the workspace for them.
  if (typeof parent === "string") conditions.match("workspace", workspace)
  else conditions.equal("workspace", workspace)
  conditions.equal("parent", parent)
  for (const [key, value] of Object.entries(metadata)) {
    const pair = `label.workspace = ${bind(workspace)} AND key = ${bind(key)} AND value = ${bind(value)}`
    demand(`EXISTS (SELECT FROM session_metadata AS label WHERE ${pair} AND label.session = sessions.number)`)
  }
  demand(`(updated_at, number) < (${bind(after.at)}, ${bind(after.number)})`)
  const order = "ORDER BY updated_at DESC, number DESC"
  const text = `SELECT * FROM sessions${conditions.where()} ${order} LIMIT ${bind(limit)}`
  return { text, values: conditions.values }
}
