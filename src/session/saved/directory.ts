import { defined } from "../../base/defined.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { SessionDirectory, SessionQuery } from "../../plugin/sessions-port.ts"
import { toGivenId } from "../../task/given-id.ts"
import { createSessionId, type SessionId, type WorkspaceId } from "../../task/id.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { PageRequest, SessionFilter } from "../../task/store.ts"
import { describe, toSessionInfo } from "../conversation/context.ts"
import { deleteConversation } from "./delete-conversation.ts"
import { requireIdle } from "../log/stored-turn.ts"
import { redactEntry } from "../log/log-entry.ts"
import { parseSessionData, toStoredData } from "../log/session-data.ts"
import { requireMetadata, toNewMetadata } from "../log/session-labels.ts"
import { forkSession } from "./fork-session.ts"
import { labelSession } from "./label-session.ts"
import { readRestored, readSessionState, readStoredState, toDocumentPuts, toHead } from "./session-state.ts"
import type { Using } from "../conversation/scope.ts"

export type DirectoryScope = Using<"bus" | "clock" | "config" | "log" | "open" | "redactor" | "runner" | "store">

/** The conversations of a workspace that the store keeps. */
export function createSessionDirectory(scope: DirectoryScope, workspace: WorkspaceId): SessionDirectory {
  const { store } = scope
  const toId = (id: string): SessionId => toGivenId("session", id, "id")
  const find = async (id: SessionId): Promise<SessionRecord | undefined> => {
    const record = await store.session(id)
    return record?.workspace === workspace ? record : undefined
  }
  return {
    workspace,
    async list(query = {}, page = {}) {
      const { items, ...rest } = await store.sessions(toFilter(workspace, query), toPage(page))
      return { ...rest, items: items.map((record) => toSessionInfo(toHead(record))) }
    },
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
      const metadata = toNewMetadata(scope.redactor, state.metadata)
      const entries = messages.map((message) => redactEntry(scope.redactor, { kind: "message", message, turn: null }))
      await store.commit([
        { op: "session.create", id, workspace, data: toStoredData(data), metadata },
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
    update: async (id, changes) => labelSession(scope, workspace, toId(id), changes),
    fork: async (id, options) => forkSession(scope, workspace, toId(id), options),
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
  const { parent } = log.data
  const data = toStoredData(log.data)
  await store.commit([{ op: "session.create", id, workspace, parent, data, ...log.labels() }])
  return true
}

const DEFAULT_PAGE_SIZE = 100
const LONGEST_PAGE = 1_000

function toPage({ limit = DEFAULT_PAGE_SIZE, cursor }: Partial<PageRequest>): PageRequest {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= LONGEST_PAGE) return { limit, ...defined({ cursor }) }
  const text = `\`limit\` must be from 1 to ${LONGEST_PAGE}, not ${limit}.`
  throw new MeanwhileError("invalid_input", text, { field: "limit" })
}

/** Sessions that people talk with; those of subagents are left out. */
function toFilter(workspace: WorkspaceId, query: SessionQuery): SessionFilter {
  const unknown = Object.keys(query).find((name) => name !== "metadata")
  if (unknown !== undefined) {
    // A misspelled filter would list everybody's.
    const text = `sessions.list has no filter ${JSON.stringify(unknown)}: it takes { metadata }.`
    throw new MeanwhileError("invalid_input", text, { field: unknown })
  }
  const { metadata = {} } = query
  requireMetadata(metadata)
  return { workspace, parent: null, metadata }
}
