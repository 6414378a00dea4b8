import type { SessionId } from "../../../task/id.ts"
import type { SessionRecord } from "../../../task/session.ts"
import type { SessionTable, StoredSession } from "../../rules/tables.ts"
import type { WriterMemory } from "./writer-memory.ts"

export interface SessionCache {
  readonly sessions: SessionTable
  /** Writes what was kept back: a conversation that several writers of a transaction go on with is written once. */
  save(): void
  /** The changes of the writer, or of all, were taken back. */
  forget(): void
}

interface Unsaved {
  readonly session: StoredSession
  readonly before: SessionRecord
}

/** Remembers the records of conversations, not their messages, so that going on with one need not read it. */
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
