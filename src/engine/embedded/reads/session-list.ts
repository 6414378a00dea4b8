import type { WorkspaceId } from "../../../task/id.ts"
import type { SessionRecord } from "../../../task/session.ts"
import type { Page, PageRequest } from "../../../task/store.ts"
import type { StoredSessions } from "../tables/session-table.ts"
import { parseCursor, requirePageLimit, toCursor } from "../../rules/cursor.ts"

/** The last changed first. One that changes between two pages may be missed by the second: it was on no page yet, or is new. */
export function listSessions(table: StoredSessions, workspace: WorkspaceId, request: PageRequest): Page<SessionRecord> {
  const { limit, cursor } = request
  requirePageLimit(limit, "sessions")
  const after = cursor === undefined ? undefined : parseCursor(cursor)
  const found = table.list(workspace, after && { updatedAt: after.at, number: after.number }, limit + 1)
  const shown = found.slice(0, limit)
  const items = shown.map(({ record }) => record)
  const last = shown.at(-1)
  if (found.length <= limit || !last) return { items }
  return { items, cursor: toCursor({ at: last.record.updatedAt, number: last.number }) }
}
