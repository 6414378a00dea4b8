import type { SessionId } from "../../../task/id.ts"
import type { SessionTable, StoredSession } from "../../rules/tables.ts"
import type { WriterMemory } from "./writer-memory.ts"

/** Remembers the records of conversations, not their messages, so that going on with one need not read it. */
export function createSessionCache(table: SessionTable, known: WriterMemory<SessionId, StoredSession>): SessionTable {
  function find(id: SessionId): StoredSession | undefined {
    const session = known.get(id)
    if (session) return session
    const found = table.find(id)
    if (found) known.set(id, found)
    return found
  }

  return {
    ...table,
    find,
    workspaceOf: (id) => known.get(id)?.record.workspace ?? table.workspaceOf(id),
    insert(record) {
      const session = table.insert(record)
      known.set(record.id, session)
      return session
    },
    save(session, before) {
      table.save(session, before)
      known.set(session.record.id, session)
    },
    remove(session) {
      table.remove(session)
      known.delete(session.record.id)
    },
  }
}
