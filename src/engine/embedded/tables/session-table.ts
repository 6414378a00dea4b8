import type { SessionId } from "../../../task/id.ts"
import type { SessionRecord } from "../../../task/session.ts"
import type { Reads } from "../read/reads.ts"
import { MINUTE_MS } from "../read/session-list.ts"
import { LIMIT, type Prepare } from "../sqlite/statement.ts"
import { type MessageRow, type SessionRow, toMessage, toStoredSession } from "../../rules/rows/session-row.ts"
import type { SessionTable, StoredSession } from "../../rules/tables.ts"
import type { WriterMemory } from "./writer-memory.ts"

export interface StoredSessions extends SessionTable {
  readonly messages: Reads["messages"]
}

export function createSessionTable(prepare: Prepare): StoredSessions {
  const find = prepare<SessionRow>("SELECT * FROM sessions WHERE id = ?")
  const workspaceOf = prepare<Pick<SessionRow, "workspace">>("SELECT workspace FROM sessions WHERE id = ?")
  const messages = prepare<MessageRow>(`WITH owner (number) AS (SELECT number FROM sessions WHERE id = ?)
     SELECT place & ${POSITION_MASK} AS position, at, body FROM owner CROSS JOIN messages
     WHERE place > owner.number << 32 | min(max(?, 0), ${POSITION_MASK}) AND place < (owner.number + 1) << 32
     ORDER BY place ${LIMIT}`)
  const insert = prepare(`INSERT INTO sessions
       (id, workspace, version, created_at, updated_at, updated_minute, message_count, data, parent, title, metadata)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const move = prepare("UPDATE sessions SET updated_minute = ? WHERE number = ?")
  const save = prepare("UPDATE sessions SET version = ?, updated_at = ?, message_count = ?, data = ? WHERE number = ?")
  const label = prepare("UPDATE sessions SET metadata = ?, title = ? WHERE number = ?")
  const append = prepare("INSERT INTO messages (place, at, body) VALUES (? << 32 | ?, ?, ?)")
  const copyMessages = prepare(`INSERT INTO messages (place, at, body)
     SELECT (?2 << 32) | (place & ${POSITION_MASK}), at, body FROM messages WHERE place > ?1 << 32 AND place <= (?1 << 32 | ?3)`)
  const removeMessages = prepare("DELETE FROM messages WHERE place > ?1 << 32 AND place < (?1 + 1) << 32")
  const remove = prepare("DELETE FROM sessions WHERE number = ?")
  return {
    find(id) {
      const row = find.get(id)
      return row && toStoredSession(row)
    },
    workspaceOf: (id) => workspaceOf.get(id)?.workspace,
    messages: (session, afterPosition, limit) =>
      messages.all(session, afterPosition, limit).map((row) => toMessage(session, row)),
    insert(record) {
      const { id, workspace, version, createdAt, updatedAt, messageCount, parent, title } = record
      const counted = [version, createdAt, updatedAt, toMinute(updatedAt), messageCount]
      const [data, metadata] = [JSON.stringify(record.data), JSON.stringify(record.metadata)]
      const { lastInsertRowid } = insert.run(id, workspace, ...counted, data, parent, title, metadata)
      return { number: Number(lastInsertRowid), record }
    },
    save({ number, record }, before) {
      const minute = toMinute(record.updatedAt)
      if (minute !== toMinute(before.updatedAt)) move.run(minute, number)
      if (record.metadata !== before.metadata || record.title !== before.title)
        label.run(JSON.stringify(record.metadata), record.title, number)
      save.run(record.version, record.updatedAt, record.messageCount, JSON.stringify(record.data), number)
    },
    append: (session, position, at, body) => void append.run(session, position, at, JSON.stringify(body)),
    copyMessages: (from, to, upTo) => void copyMessages.run(from, to, upTo),
    remove({ number }) {
      removeMessages.run(number)
      remove.run(number)
    },
  }
}

/** The bits of a message's `place` that hold its position. */
const POSITION_MASK = 0xffff_ffff

const toMinute = (at: number): number => Math.floor(at / MINUTE_MS)

interface SessionCache {
  readonly sessions: SessionTable
  /** Writes the records that were held back: a conversation that several writers of a transaction change is written once. */
  save(): void
  /** Called when the changes of the writer, or of the whole transaction, were rolled back. */
  forget(): void
}

interface Unsaved {
  readonly session: StoredSession
  readonly before: SessionRecord
}

/** Remembers the records of conversations, not their messages, so that going on with a conversation need not read it. */
export function createSessionCache(table: SessionTable, known: WriterMemory<SessionId, StoredSession>): SessionCache {
  let unsaved = new Map<SessionId, Unsaved>()

  const sessions: SessionTable = {
    ...table,
    find(id) {
      const session = known.get(id)
      if (session) return session
      const found = table.find(id)
      if (found) known.set(id, found)
      return found
    },
    workspaceOf: (id) => known.get(id)?.record.workspace ?? table.workspaceOf(id),
    insert(record) {
      const session = table.insert(record)
      known.set(record.id, session)
      return session
    },
    save(session, before) {
      const { id } = session.record
      unsaved.set(id, { session, before: unsaved.get(id)?.before ?? before })
      known.set(id, session)
    },
    remove(session) {
      const { id } = session.record
      unsaved.delete(id)
      table.remove(session)
      known.delete(id)
    },
  }
  return {
    sessions,
    save() {
      if (unsaved.size === 0) return
      for (const { session, before } of unsaved.values()) table.save(session, before)
      forget()
    },
    forget,
  }

  function forget(): void {
    unsaved = new Map()
  }
}
