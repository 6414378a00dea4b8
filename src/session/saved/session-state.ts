import { type JsonObject, type JsonValue, toJson } from "../../base/json.ts"
import type { SessionState } from "../../plugin/sessions-port.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { Operation } from "../../task/operation.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { toSessionInfo } from "../conversation/context.ts"
import { readTrajectory } from "../results/trajectory.ts"
import { redactMessage } from "../log/log-entry.ts"
import { readHistory } from "../log/read-log.ts"
import { parseSessionData, type SessionData } from "../log/session-data.ts"
import type { SessionLog } from "../log/session-log.ts"
import { toDocumentsCollection } from "./documents.ts"
import type { Using } from "../conversation/scope.ts"

type LogHead = Pick<SessionLog, "id" | "workspace" | "data">

/** A record, as far as it is shown like a log. */
export function toHead(record: SessionRecord) {
  const { id, workspace } = record
  return { id, workspace, data: parseSessionData(record.data), times: record, labels: () => record }
}

/** A document's id, `plugin/name`, and its value. */
type Kept = readonly [string, JsonValue]

/** The state of a session for plugins. They may save it, so it holds no secrets. */
export async function readSessionState(
  scope: Using<"redactor" | "store">,
  conversation: Conversation,
): Promise<SessionState> {
  const { log, hasTasks } = conversation
  const { history, data } = log
  const messages = history.map((message) => redactMessage(scope.redactor, message))
  const results = hasTasks || data.backgroundResults ? await readResults(scope, log) : {}
  const documents = await readOwnDocuments(scope, conversation)
  return { ...toSessionInfo(log), model: data.model, messages, data: data.plugins, ...results, ...documents }
}

/** What plugins keep with the conversation, by plugin, and what it was saved with elsewhere. */
export async function readToolContext(scope: Using<"store">, conversation: Conversation): Promise<JsonObject> {
  const { documents } = await readOwnDocuments(scope, conversation)
  return { ...conversation.log.data.plugins, ...documents }
}

async function readOwnDocuments(
  scope: Using<"store">,
  { log, documents }: Conversation,
): Promise<Pick<SessionState, "documents">> {
  if (!log.isKept) return toDocuments([...documents.inMemory])
  if (!documents.mayExist) return {}
  return readDocuments(scope, log)
}

/** The same state of any session in the store. */
export async function readStoredState(scope: Using<"store">, record: SessionRecord): Promise<SessionState> {
  const { history: messages } = await readHistory(scope.store, record)
  const log = toHead(record)
  const { model, plugins } = log.data
  const results = await readResults(scope, log)
  return { ...toSessionInfo(log), model, messages, data: plugins, ...results, ...(await readDocuments(scope, log)) }
}

/** Absent when there are none. */
async function readResults(scope: Using<"store">, log: LogHead): Promise<Pick<SessionState, "backgroundResults">> {
  const unused = await readTrajectory(scope, log)
  return unused.size === 0 ? {} : { backgroundResults: Object.fromEntries(unused) }
}

async function readDocuments({ store }: Using<"store">, { id, workspace }: LogHead) {
  const kept = await store.documents(workspace, toDocumentsCollection(id))
  return toDocuments(kept.map(({ id: name, value }) => [name, value]))
}

/** Unused results of a saved conversation, except those of tasks that this store knows: their notices have them. */
export async function readRestored(
  { store, redactor }: Using<"redactor" | "store">,
  { backgroundResults = {} }: SessionState,
): Promise<Pick<SessionData, "backgroundResults">> {
  const results = Object.values(backgroundResults)
  const known = await Promise.all(results.map(({ taskId }) => store.task(taskId)))
  const unknown = results.filter((result, index) => known[index] === undefined && !result.consumed)
  if (unknown.length === 0) return {}
  const kept = Object.fromEntries(unknown.map((result) => [result.taskId, result]))
  return { backgroundResults: redactor.redactJson(toJson(kept)).value as JsonObject }
}

/** The saved documents as operations, for the commit that restores a conversation. */
export function toDocumentPuts(
  scope: Using<"redactor">,
  saved: SessionState,
  { id: session, workspace }: { readonly id: SessionId; readonly workspace: WorkspaceId },
): readonly Operation[] {
  const collection = toDocumentsCollection(session)
  return toKept(scope, saved).map(([id, value]) => {
    return { op: "document.put", workspace, collection, id, value, expectedVersion: 0 } as const
  })
}

/** Writes the saved documents for a conversation that begins with what was saved. */
export async function restoreDocuments(
  scope: Using<"redactor" | "store">,
  conversation: Conversation,
  saved: SessionState,
): Promise<void> {
  const { log, documents } = conversation
  const kept = toKept(scope, saved)
  if (kept.length === 0) return
  documents.mayExist = true
  if (log.isKept) await scope.store.commit(toDocumentPuts(scope, saved, log))
  else for (const [id, value] of kept) documents.inMemory.set(id, value)
}

function toKept({ redactor }: Using<"redactor">, { documents = {} }: SessionState): readonly Kept[] {
  return Object.entries(documents).flatMap(([plugin, named]) =>
    Object.entries(named).map(([name, value]) => [`${plugin}/${name}`, redactor.redactJson(value).value] as const),
  )
}

/** By plugin, then by name. Absent when there are none. */
function toDocuments(kept: readonly Kept[]): Pick<SessionState, "documents"> {
  if (kept.length === 0) return {}
  const byPlugin = Map.groupBy(kept, ([id]) => id.slice(0, id.indexOf("/")))
  const toNamed = ([id, value]: Kept) => [id.slice(id.indexOf("/") + 1), value] as const
  const entries = [...byPlugin].map(([plugin, its]) => [plugin, Object.fromEntries(its.map(toNamed))] as const)
  return { documents: Object.fromEntries(entries) }
}
