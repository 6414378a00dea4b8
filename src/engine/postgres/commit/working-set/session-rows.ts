import type { JsonValue } from "../../../../base/json.ts"
import type { SessionId, WorkspaceId } from "../../../../task/id.ts"
import type { SessionTable, StoredSession } from "../../../rules/tables.ts"
import { type Changed, createLog, createMemory, createNumbers, type Numbers, type UndoLog } from "./memory.ts"
import { existsAlready } from "./task-rows.ts"
import { missing } from "./wants.ts"

export interface AppendedMessage {
  readonly session: number
  readonly position: number
  readonly at: number
  readonly body: JsonValue
}

export interface MessageCopy {
  readonly from: number
  readonly to: number
  readonly upTo: number
}

export interface SessionRows {
  readonly table: SessionTable
  readonly numbers: Numbers
  learn(id: SessionId, session: StoredSession | undefined): void
  learnWorkspace(id: SessionId, workspace: WorkspaceId | undefined): void
  /** The new messages of sessions that are not removed. */
  messages(): readonly AppendedMessage[]
  /** Copies of stored messages. Those of sessions that are removed in this transaction are made before the removal. */
  copies(): readonly MessageCopy[]
  changes(): readonly Changed<StoredSession>[]
}

export function createSessionRows(undo: UndoLog): SessionRows {
  const sessions = createMemory<StoredSession>(undo)
  const workspaces = createMemory<WorkspaceId>(undo)
  const numbers = createNumbers("session_numbers", undo)
  const messages = createLog<AppendedMessage>(undo)
  const copies = createLog<MessageCopy>(undo)
  const removals = createLog<number>(undo)

  function find(id: SessionId): StoredSession | undefined {
    if (!sessions.isKnown(id)) throw missing("session", id)
    return sessions.get(id)
  }

  const table: SessionTable = {
    find,
    workspaceOf(id) {
      if (sessions.isKnown(id)) return sessions.get(id)?.record.workspace
      if (!workspaces.isKnown(id)) throw missing("workspaceOfSession", id)
      return workspaces.get(id)
    },
    insert(record) {
      if (find(record.id)) throw existsAlready("session", record.id)
      const session = { number: numbers.take(), record }
      sessions.set(record.id, session)
      return session
    },
    save: (session) => sessions.set(session.record.id, session),
    append: (session, position, at, body) => messages.add({ session, position, at, body }),
    copyMessages(from, to, upTo) {
      copies.add({ from, to, upTo })
      // These are not stored yet.
      const appended = messages.entries().filter(({ session, position }) => session === from && position <= upTo)
      for (const message of appended) messages.add({ ...message, session: to })
    },
    remove({ number, record }) {
      removals.add(number)
      sessions.set(record.id, undefined)
    },
  }

  return {
    table,
    numbers,
    learn: sessions.learn,
    learnWorkspace: workspaces.learn,
    messages() {
      const removed = new Set(removals.entries())
      return removed.size === 0 ? messages.entries() : messages.entries().filter(({ session }) => !removed.has(session))
    },
    copies() {
      const removed = new Set(removals.entries())
      return copies.entries().filter(({ to }) => !removed.has(to))
    },
    changes: sessions.changes,
  }
}
