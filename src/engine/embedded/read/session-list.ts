import type { WorkspaceId } from "../../../task/id.ts"
import type { SessionFilter } from "../../../task/store.ts"
import { parseCursor, type Position, requirePageLimit, toCursor } from "../../rules/cursor.ts"
import { type SessionRow, toStoredSession } from "../../rules/rows/session-row.ts"
import { type Condition, equal, toWhere } from "../sqlite/condition.ts"
import { LIMIT, type Prepare } from "../sqlite/statement.ts"
import type { Reads } from "./reads.ts"

export function createSessionList(prepare: Prepare): Pick<Reads, "sessions" | "sessionWorkspaces"> {
  const countOfPair = prepare<{ count: number }>(`SELECT count(*) AS count FROM (
     SELECT 1 FROM session_metadata WHERE workspace = ? AND key = ? AND value = ? LIMIT ${MOST_COUNTED})`)
  /** Jumps from one workspace to the next in the index. */
  const workspaces = prepare<{ workspace: WorkspaceId }>(`WITH RECURSIVE known (workspace) AS (
       SELECT min(workspace) FROM sessions WHERE workspace > ?
       UNION ALL SELECT (SELECT min(workspace) FROM sessions WHERE workspace > known.workspace) FROM known
       WHERE known.workspace IS NOT NULL)
     SELECT workspace FROM known WHERE workspace IS NOT NULL ${LIMIT}`)

  /** The pairs of a filter, the one that the fewest sessions have first. */
  function rarestFirst({ workspace, metadata = {} }: SessionFilter): readonly Pair[] {
    const pairs = Object.entries(metadata)
    if (pairs.length < 2) return pairs
    const counted = pairs.map((pair) => ({ pair, count: countOfPair.get(workspace, ...pair)?.count ?? 0 }))
    return counted.toSorted((one, other) => one.count - other.count).map(({ pair }) => pair)
  }

  return {
    sessions(filter, { limit, cursor }) {
      requirePageLimit(limit, "sessions")
      const { from, minute, conditions } = toWay(filter, rarestFirst(filter))
      const after = cursor === undefined ? toFirst(filter) : parseCursor(cursor)
      const { where, parameters } = toWhere([...conditions, ...toPlace(minute, after)])
      const order = `${minute === null ? "" : `${minute} DESC, `}updated_at DESC, number DESC`
      // Rows are large: those of a whole minute are sorted without them.
      const page = `SELECT sessions.number FROM ${from} WHERE ${where} ORDER BY ${order} ${LIMIT}`
      const rows = prepare<SessionRow>(
        `SELECT * FROM sessions WHERE number IN (${page}) ORDER BY updated_at DESC, number DESC`,
      )
      const found = rows.all(...parameters, limit + 1).map(toStoredSession)
      const shown = found.slice(0, limit)
      const items = shown.map(({ record }) => record)
      const last = shown.at(-1)
      if (found.length <= limit || !last) return { items }
      return { items, cursor: toCursor({ at: last.record.updatedAt, number: last.number }) }
    },
    sessionWorkspaces: (after, limit) => workspaces.all(after ?? "", limit).map(({ workspace }) => workspace),
  }
}

/**
 * The index of conversations is by the minute, and the query sorts within it: the index does not change through most of
 * a turn.
 */
export const MINUTE_MS = 60_000

/** To find the rarest of several pairs, so many sessions of each are enough to count. */
const MOST_COUNTED = 1_000

type Pair = readonly [key: string, value: string]

/** The index that finds the sessions. `minute`: its column that holds the minute of the last change; null if it has none. */
interface Way {
  readonly from: string
  readonly minute: string | null
  readonly conditions: readonly (Condition | undefined)[]
}

function toWay(filter: SessionFilter, [first, ...others]: readonly Pair[]): Way {
  const { workspace, parent } = filter
  const own = [equal("sessions.workspace", workspace), equal("parent", parent)]
  if (first) {
    const from = "session_metadata AS label CROSS JOIN sessions ON sessions.number = label.session"
    const conditions = [has("label", workspace, first), ...others.map((pair) => alsoHas(workspace, pair)), ...own]
    return { from, minute: "label.updated_minute", conditions }
  }
  if (typeof parent === "string") {
    return { from: "sessions INDEXED BY sessions_by_parent", minute: null, conditions: own }
  }
  return { from: "sessions INDEXED BY sessions_by_minute", minute: "updated_minute", conditions: own }
}

function has(table: string, workspace: WorkspaceId, [key, value]: Pair): Condition {
  return { sql: `${table}.workspace = ? AND ${table}.key = ? AND ${table}.value = ?`, values: [workspace, key, value] }
}

function alsoHas(workspace: WorkspaceId, pair: Pair): Condition {
  const { sql, values } = has("other", workspace, pair)
  const same = "other.updated_minute = label.updated_minute AND other.session = label.session"
  return { sql: `EXISTS (SELECT 1 FROM session_metadata AS other WHERE ${sql} AND ${same})`, values }
}

/** Where the first page begins. */
function toFirst({ changedBefore }: SessionFilter): Position {
  if (changedBefore !== undefined) return { at: Math.ceil(changedBefore), number: 0 }
  return { at: Number.MAX_SAFE_INTEGER, number: Number.MAX_SAFE_INTEGER }
}

/** Rows behind a place. The first condition leads through the index to the minute of that place. */
function toPlace(minute: string | null, { at, number }: Position): readonly Condition[] {
  const behind = { sql: "(updated_at, sessions.number) < (?, ?)", values: [at, number] }
  return minute === null ? [behind] : [{ sql: `${minute} <= ? / ${MINUTE_MS}`, values: [at] }, behind]
}
