import type { TaskStore } from "../../task/store.ts"
import type { JsonValue } from "../../base/json.ts"
import type { SessionState } from "../../plugin/sessions-port.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { Operation } from "../../task/operation.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { toDocumentsCollection } from "./documents.ts"
import type { Using } from "../conversation/scope.ts"

interface Kept {
  /** The plugin, a slash, and its name for it. */
  readonly id: string
  readonly value: JsonValue
}

type Documents = Pick<SessionState, "documents">

/** The plugin documents of a conversation that is open here, as they are saved with it. */
export async function readOpenDocuments({ store }: Using<"store">, conversation: Conversation): Promise<Documents> {
  const { log, documents } = conversation
  if (!log.isKept) return toDocuments([...documents.inMemory].map(([id, value]) => ({ id, value })))
  return documents.mayExist ? readDocuments(store, log) : {}
}

/** The same of any in the store. */
export async function readDocuments(
  store: TaskStore,
  { id, workspace }: { readonly id: SessionId; readonly workspace: WorkspaceId },
): Promise<Documents> {
  return toDocuments(await store.documents(workspace, toDocumentsCollection(id)))
}

/** For the commit that makes a conversation of a saved one. */
export function toDocumentPuts(
  scope: Using<"redactor">,
  saved: SessionState,
  { id: session, workspace }: { readonly id: SessionId; readonly workspace: WorkspaceId },
): readonly Operation[] {
  const collection = toDocumentsCollection(session)
  return toKept(scope, saved).map(({ id, value }) => {
    return { op: "document.put", workspace, collection, id, value, expectedVersion: 0 } as const
  })
}

/** For one that begins with what was saved. */
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
  else for (const { id, value } of kept) documents.inMemory.set(id, value)
}

function toKept({ redactor }: Using<"redactor">, { documents = {} }: SessionState): readonly Kept[] {
  return Object.entries(documents).flatMap(([plugin, named]) =>
    Object.entries(named).map(([name, value]) => ({
      id: `${plugin}/${name}`,
      value: redactor.redactJson(value).value,
    })),
  )
}

/** By plugin, then by name. Absent when there are none. */
function toDocuments(kept: readonly Kept[]): Documents {
  if (kept.length === 0) return {}
  const byPlugin = Map.groupBy(kept, ({ id }) => id.slice(0, id.indexOf("/")))
  const toNamed = ({ id, value }: Kept) => [id.slice(id.indexOf("/") + 1), value] as const
  const entries = [...byPlugin].map(([plugin, its]) => [plugin, Object.fromEntries(its.map(toNamed))] as const)
  return { documents: Object.fromEntries(entries) }
}
