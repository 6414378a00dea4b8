import type { SessionDirectory, SessionInfo } from "../../plugin/sessions-port.ts"
import { toGivenId } from "../../task/given-id.ts"
import { createSessionId, type SessionId, type WorkspaceId } from "../../task/id.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { TaskStore } from "../../task/store.ts"
import { describe, toSessionInfo } from "../conversation/context.ts"
import { deleteConversation } from "./delete-conversation.ts"
import { requireIdle } from "../log/stored-turn.ts"
import { listSessions } from "../log/read-log.ts"
import { redactEntry } from "../log/log-entry.ts"
import { parseSessionData, toStoredData } from "../log/session-data.ts"
import { readRestored, readSessionState, readStoredState, toDocumentPuts } from "./session-state.ts"
import type { Using } from "../conversation/scope.ts"

export type DirectoryScope = Using<"config" | "log" | "open" | "redactor" | "runner" | "store">

const MOST_LISTED = 100

/** The conversations of a workspace that the store keeps. */
export function createSessionDirectory(scope: DirectoryScope, workspace: WorkspaceId): SessionDirectory {
  const { store } = scope
  const toId = (id: string): SessionId => toGivenId("session", id, "id")
  const find = async (id: SessionId): Promise<SessionRecord | undefined> => {
    const record = await store.session(id)
    return record?.workspace === workspace ? record : undefined
  }
  return {
    list: (limit = MOST_LISTED) => listMainSessions(store, workspace, limit),
    async load(given) {
      const id = toId(given)
      const record = await find(id)
      const open = scope.open.get(id)
      const isOpenHere = open?.log.workspace === workspace && !(record && open.log.isBehind(record))
      return isOpenHere ? readSessionState(scope, open) : record && readStoredState(scope, record)
    },
    async restore(state) {
      const id = (await store.session(state.id)) ? createSessionId() : state.id
      const { description, turns, model, messages } = state
      const plugins = scope.redactor.redactJson(state.data).value
      const known = { model: model ?? scope.config.agent.model ?? "", description, turns, plugins }
      const data = { ...parseSessionData(known), ...(await readRestored(scope, state)) }
      const entries = messages.map((message) => redactEntry(scope.redactor, { kind: "message", message, turn: null }))
      await store.commit([
        { op: "session.create", id, workspace, data: toStoredData(data) },
        { op: "session.update", id, expectedVersion: 1, messages: entries },
        ...toDocumentPuts(scope, state, { id, workspace }),
      ])
      return id
    },
    async delete(given) {
      const id = toId(given)
      if (!(await find(id)) && !(await storeUnsaid(scope, workspace, id))) return false
      return deleteConversation(scope, workspace, id)
    },
    async describe(given, description) {
      const id = toId(given)
      const open = scope.open.get(id)
      if (open?.log.workspace === workspace) return describe(open, description)
      const record = await find(id)
      if (!record) return
      const known = parseSessionData(record.data)
      // A turn counts the versions of the record: after a change beside it, the commit of its end would be refused.
      await requireIdle(store, id, known)
      const data = toStoredData({ ...known, description: scope.redactor.redactText(description) })
      await store.commit([{ op: "session.update", id, expectedVersion: record.version, data, messages: [] }])
    },
  }
}

/**
 * Gives a session that is open here a record, if nothing was said in it yet: with a record its tasks and documents are
 * removed like those of any other session. If the process dies after this, an empty session is left, which can be deleted.
 * False if there is no such session.
 */
async function storeUnsaid(
  { open, store }: Using<"open" | "store">,
  workspace: WorkspaceId,
  id: SessionId,
): Promise<boolean> {
  const log = open.get(id)?.log
  if (log?.workspace !== workspace || !log.isKept || log.position > 0) return false
  await store.commit([{ op: "session.create", id, workspace, data: toStoredData(log.data) }])
  return true
}

/** Sessions that people talk with; those of subagents are left out. */
async function listMainSessions(
  store: TaskStore,
  workspace: WorkspaceId,
  limit: number,
): Promise<readonly SessionInfo[]> {
  const found: SessionInfo[] = []
  for await (const record of listSessions(store, workspace)) {
    if (found.length >= limit) break
    const data = parseSessionData(record.data)
    if (data.parent === null) found.push(toSessionInfo({ id: record.id, data, times: record }))
  }
  return found
}
