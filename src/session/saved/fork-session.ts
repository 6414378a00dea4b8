import { setImmediate as letOthersRun } from "node:timers/promises"
import { MeanwhileError } from "../../base/error.ts"
import type { ForkOptions, ListedSession } from "../../plugin/sessions-port.ts"
import { callsOf, type Message } from "../../plugin/message.ts"
import { createSessionId, type SessionId, type TaskId, type WorkspaceId } from "../../task/id.ts"
import type { Operation } from "../../task/operation.ts"
import type { SessionRecord } from "../../task/session.ts"
import { toSessionInfo } from "../conversation/context.ts"
import type { Using } from "../conversation/scope.ts"
import { beginsAnew, type LogEntry } from "../log/log-entry.ts"
import { toPluginName } from "../conversation/own-tools.ts"
import { readEntries } from "../log/read-log.ts"
import { parseSessionData, type SessionData, toStoredData } from "../log/session-data.ts"
import { FORKED_FROM } from "../log/session-labels.ts"
import { toDocumentsCollection } from "./documents.ts"
import { toHead } from "./session-state.ts"

/**
 * Makes a conversation of the past of another one, in one commit: a crash leaves the whole fork or nothing of it. The
 * messages are copied where they are stored, with their places, so that neither a turn under way nor a long log is in the
 * way.
 */
export async function forkSession(
  { store }: Using<"store">,
  workspace: WorkspaceId,
  session: SessionId,
  { at }: ForkOptions = {},
): Promise<ListedSession> {
  const record = await store.session(session)
  if (record?.workspace !== workspace) {
    throw new MeanwhileError("not_found", `There is no session ${session} in the store.`, { session })
  }
  const past = await readPast(store, record, toEnd(record, at))
  const id = createSessionId()
  const [forked] = await store.commit([
    {
      op: "session.create",
      id,
      workspace,
      data: toStoredData(toForkData(record, past)),
      metadata: { ...record.metadata, [FORKED_FROM]: session },
      title: record.title,
      messagesOf: { session, upTo: past.end },
    },
    ...(await copyDocuments(store, record, id)),
  ])
  return toSessionInfo(toHead(forked))
}

function toEnd({ id, messageCount }: SessionRecord, at: number | undefined): number {
  if (at === undefined) return messageCount
  if (Number.isInteger(at) && at >= 1 && at <= messageCount) return at
  const text = `\`at\` is the place of a message of the session, from 1 to ${messageCount}: not ${at}.`
  throw new MeanwhileError("invalid_input", text, { field: "at", session: id })
}

/** The past of a session up to a place at which every call has its answer. */
interface Past {
  readonly end: number
  /** See the field of the session's data. */
  readonly historyAfter: number
  readonly turns: number
  readonly turnsBeforeReset: number
}

const READ_AT_A_STRETCH = 500

async function readPast(store: Using<"store">["store"], { id }: SessionRecord, end: number): Promise<Past> {
  const turns = new Set<TaskId>()
  let whole: Past = { end: 0, historyAfter: 0, turns: 0, turnsBeforeReset: 0 }
  let { historyAfter, turnsBeforeReset } = whole
  let last: Message | undefined
  for await (const { entry, position } of readEntries(store, id)) {
    if (position > end) break
    if (position % READ_AT_A_STRETCH === 0) await letOthersRun()
    if (entry.kind === "message" && entry.turn) turns.add(entry.turn)
    if (beginsAnew(entry)) historyAfter = position - 1
    if (entry.kind === "reset") turnsBeforeReset = turns.size
    last = toLast(entry, last)
    if (last?.role === "assistant" && callsOf(last).length > 0) continue
    // What the turn that is taken again left unanswered is answered by the entries behind it.
    if (entry.kind === "reopened") continue
    whole = { end: position, historyAfter, turns: turns.size, turnsBeforeReset }
  }
  return whole
}

/** The last message of the history once the entry is added. */
function toLast(entry: LogEntry, last: Message | undefined): Message | undefined {
  switch (entry.kind) {
    case "message":
      return entry.message
    case "collection":
      return entry.messages.at(-1)
    case "reset":
      return undefined
    case "paid":
    case "reopened":
      return last
  }
}

/** What was counted or left for the other conversation does not go along. */
function toForkData({ data, messageCount, ...source }: SessionRecord, past: Past): SessionData {
  const known = parseSessionData(data)
  const { wakes: _, steered: _said, backgroundResults: _results, turnsBeforeReset: _before, ...kept } = known
  const { end, historyAfter, turnsBeforeReset } = past
  const isWhole = end === messageCount
  const counted = isWhole && known.turnsBeforeReset !== undefined ? known.turnsBeforeReset : turnsBeforeReset
  return {
    ...kept,
    // Tools of the other conversation's own are found by no other.
    tools: kept.tools && kept.tools.filter((name) => name !== toPluginName(source)),
    parent: null,
    turn: null,
    turns: isWhole ? known.turns : past.turns,
    ...(counted > 0 && { turnsBeforeReset: counted }),
    historyAfter,
    copiedUpTo: end,
    measured: isWhole ? known.measured : null,
  }
}

async function copyDocuments(
  store: Using<"store">["store"],
  { id: from, workspace }: SessionRecord,
  to: SessionId,
): Promise<readonly Operation[]> {
  const documents = await store.documents(workspace, toDocumentsCollection(from))
  const collection = toDocumentsCollection(to)
  return documents.map(({ id, value }) => {
    return { op: "document.put", workspace, collection, id, value, expectedVersion: 0 } as const
  })
}
