import { MeanwhileError } from "../../base/error.ts"
import type { SessionId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { StoredSession, StoredTask, Tables } from "./tables.ts"
import { type Handlers, wakeWritten } from "./change.ts"
import { notFound, wrongState } from "./refusal.ts"
import { removeTask } from "./change-task.ts"

export function createSessionHandlers(tables: Tables) {
  const { tasks, sessions, notices, groups } = tables

  function requireSession(id: SessionId): StoredSession {
    const session = sessions.find(id)
    if (!session) throw notFound("session", id)
    return session
  }

  return {
    "session.create"({ id, workspace, data }, { now }) {
      const record: SessionRecord = { id, workspace, version: 1, createdAt: now, updatedAt: now, data, messageCount: 0 }
      sessions.insert(record)
      return record
    },
    "session.update"({ id, expectedVersion, data, messages }, change) {
      const { number, record } = requireSession(id)
      if (record.version !== expectedVersion) {
        const text = `Session ${id} is at version ${record.version}, not ${expectedVersion}. Read it again before writing.`
        throw new MeanwhileError("version_conflict", text, { id, version: record.version })
      }
      let position = record.messageCount
      for (const message of messages) sessions.append(number, ++position, change.now, message)
      const updated: SessionRecord = {
        ...record,
        version: record.version + 1,
        updatedAt: change.now,
        data: data ?? record.data,
        messageCount: position,
      }
      sessions.save({ number, record: updated }, record)
      wakeWritten(change, id)
      return updated
    },
    "session.delete"({ id }, change) {
      const session = requireSession(id)
      const members = tasks.ofSession(id)
      const live = members.filter(({ state }) => !isTerminal(state.status))
      const blocking = live.find(({ details }) => details.lifetime !== "forever")
      if (blocking) throw wrongState(blocking, `session ${id} cannot be deleted before it ends`)
      for (const member of members) if (isTerminal(member.state.status)) removeTask(tables, member)
      const removedGroups = new Set(groups.removeOfSession(id))
      for (const member of live) {
        const { group } = member.details
        detach(member, group !== null && removedGroups.has(group))
      }
      sessions.remove(session)
      wakeWritten(change, id)
      return null
    },
  } satisfies Partial<Handlers>

  /** A task that outlives its session goes on without one. */
  function detach(task: StoredTask, isGroupGone: boolean): void {
    const group = isGroupGone ? null : task.details.group
    tasks.saveDetails({ ...task, details: { ...task.details, session: null, group } })
    notices.readdress(task.number, null)
  }
}
