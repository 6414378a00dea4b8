import { MeanwhileError } from "../../base/error.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { OperationOf } from "../../task/operation.ts"
import type { SessionMetadata, SessionRecord } from "../../task/session.ts"
import type { StoredSession, StoredTask, Tables } from "./tables.ts"
import { type Handlers, wakeWritten } from "./change.ts"
import { notFound, wrongState } from "./refusal.ts"
import { removeTask } from "./change-task.ts"

type MessagesOf = NonNullable<OperationOf<"session.create">["messagesOf"]>

export function createSessionHandlers(tables: Tables) {
  const { tasks, sessions, notices, groups } = tables

  function requireSession(id: SessionId): StoredSession {
    const session = sessions.find(id)
    if (!session) throw notFound("session", id)
    return session
  }

  return {
    "session.create"(operation, { now }) {
      const { id, workspace, parent = null, data, metadata = {}, title = null, messagesOf } = operation
      const source = messagesOf && requireSource(messagesOf, workspace)
      const labels = { metadata, title }
      const times = { createdAt: now, updatedAt: now }
      const messageCount = messagesOf?.upTo ?? 0
      const record: SessionRecord = { id, workspace, parent, version: 1, ...times, data, messageCount, ...labels }
      const { number } = sessions.insert(record)
      if (source) sessions.copyMessages(source.number, number, messageCount)
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
    "session.label"({ id, metadata = {}, title }, change) {
      const { number, record } = requireSession(id)
      const labelled: SessionRecord = {
        ...record,
        metadata: relabel(record.metadata, metadata),
        title: title === undefined ? record.title : title,
      }
      sessions.save({ number, record: labelled }, record)
      wakeWritten(change, id)
      return labelled
    },
    "session.delete"({ id, ifIdleSince }, change) {
      const session = requireSession(id)
      const members = tasks.ofSession(id)
      const live = members.filter(({ state }) => !isTerminal(state.status))
      const blocking = live.find(({ details }) => ifIdleSince !== undefined || details.lifetime !== "forever")
      if (blocking) throw wrongState(blocking, `session ${id} cannot be deleted before it ends`)
      if (ifIdleSince !== undefined) requireIdleSince(ifIdleSince, session.record, members)
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

  function requireSource({ session, upTo }: MessagesOf, workspace: WorkspaceId): StoredSession {
    const source = requireSession(session)
    if (source.record.workspace !== workspace) throw notFound("session", session)
    const { messageCount } = source.record
    if (Number.isInteger(upTo) && upTo >= 0 && upTo <= messageCount) return source
    const text = `Session ${session} has ${messageCount} messages, and its first ${upTo} were to be copied.`
    throw new MeanwhileError("invalid_input", text, { session, messageCount })
  }

  /** A task that outlives its session goes on without one. */
  function detach(task: StoredTask, isGroupGone: boolean): void {
    const group = isGroupGone ? null : task.details.group
    tasks.saveDetails({ ...task, details: { ...task.details, session: null, group } })
    notices.readdress(task.number, null)
  }
}

function relabel(known: SessionMetadata, changes: Readonly<Record<string, string | null>>): SessionMetadata {
  const entries = Object.entries({ ...known, ...changes })
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null))
}

function requireIdleSince(since: number, { id, updatedAt }: SessionRecord, tasks: readonly StoredTask[]): void {
  const ends = tasks.map(({ state }) => ("endedAt" in state ? state.endedAt : 0))
  if ([updatedAt, ...ends].every((at) => at <= since)) return
  throw new MeanwhileError("wrong_state", `Session ${id} is in use: it has changed, or a task of it has ended.`)
}
