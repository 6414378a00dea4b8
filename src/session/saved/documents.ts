import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { JsonValue } from "../../base/json.ts"
import type { DocumentsPort } from "../../plugin/documents-port.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"

/** The owner of documents. */
interface DocumentsOwner {
  readonly workspace: WorkspaceId
  /** Null for calls outside any conversation. */
  readonly session: SessionId | null
  readonly plugin: string
}

/** Keeps documents in the store or, if the conversation is not kept, with it in memory. */
export function createDocumentsPort(
  scope: Using<"children" | "open" | "ports" | "redactor" | "store">,
  owner: DocumentsOwner,
): DocumentsPort {
  const toId = (name: string): string => `${owner.plugin}/${name}`
  const redact = (value: JsonValue): JsonValue => scope.redactor.redactJson(value).value
  return {
    async read(name) {
      const unkept = findUnkept(scope, owner)
      if (unkept) return unkept.documents.inMemory.get(toId(name))
      const { workspace, session } = owner
      return (await scope.store.document(workspace, toDocumentsCollection(session), toId(name)))?.value
    },
    async change(name, change) {
      const here = findHere(scope, owner)
      if (here) here.documents.mayExist = true
      const unkept = findUnkept(scope, owner)
      if (!unkept) {
        const key = `${owner.workspace}/${toDocumentsCollection(owner.session)}/${toId(name)}`
        const changeOne = () => changeStored(scope, owner, toId(name), (before) => redact(change(before)))
        return scope.ports.changesOfDocument(key, changeOne)
      }
      const value = redact(change(unkept.documents.inMemory.get(toId(name))))
      unkept.documents.inMemory.set(toId(name), value)
      return value
    },
  }
}

/** The collection of marks that say up to where an actor was told of ended tasks. An id is a session, or session/actor. */
export const TOLD_MARKS = "announced"

/** The collection of a conversation's plugin documents, which is removed with it. */
export function toDocumentsCollection(session: SessionId | null): string {
  return session === null ? "plugins" : `plugins/${session}`
}

async function changeStored(
  scope: Using<"open" | "store">,
  { workspace, session }: DocumentsOwner,
  id: string,
  change: (before: JsonValue | undefined) => JsonValue,
): Promise<JsonValue> {
  const { store } = scope
  await requireSession(scope, session)
  const collection = toDocumentsCollection(session)
  for (;;) {
    const before = await store.document(workspace, collection, id)
    const value = change(before?.value)
    const expectedVersion = before?.version ?? 0
    try {
      await store.commit([{ op: "document.put", workspace, collection, id, value, expectedVersion }])
      return value
    } catch (error) {
      // Another writer was first. Of those who try again, one always succeeds.
      if (!isMeanwhileError(error, "version_conflict")) throw error
    }
  }
}

/** Refuses documents of a deleted conversation: nobody would ever remove them. */
async function requireSession({ open, store }: Using<"open" | "store">, session: SessionId | null): Promise<void> {
  if (session === null || open.has(session) || (await store.session(session))) return
  throw new MeanwhileError("not_found", "The conversation is gone: nothing more can be kept of it.", { session })
}

function findHere(
  { open, children }: Using<"children" | "open">,
  { session }: DocumentsOwner,
): Conversation | undefined {
  return session === null ? undefined : (open.get(session) ?? children.agents.recall(session))
}

function findUnkept(scope: Using<"children" | "open">, owner: DocumentsOwner): Conversation | undefined {
  const conversation = findHere(scope, owner)
  return conversation?.log.isKept === false ? conversation : undefined
}
