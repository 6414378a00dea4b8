import { isMeanwhileError } from "../../base/error.ts"
import type { DocumentRecord } from "../../task/document.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import { TOLD_MARKS, toDocumentsCollection } from "./documents.ts"
import { readChildSessions } from "../log/read-log.ts"
import { toSaidCollection } from "../log/settle-operations.ts"
import { stopTurn } from "../conversation/stop-turn.ts"
import type { Using } from "../conversation/scope.ts"

/**
 * Deletes a conversation and those of its subagents, which nobody could find without it. If the process dies in between,
 * the conversation is still listed, and deleting it again removes the rest. False if it was gone already.
 */
export async function deleteConversation(
  scope: Using<"log" | "open" | "runner" | "store">,
  workspace: WorkspaceId,
  id: SessionId,
): Promise<boolean> {
  const open = scope.open.get(id)
  // Stopped first: without its subagents, the turn would ask the model what to do.
  if (open) stopTurn(scope, open, "the conversation was deleted")
  const below = await deleteBelow(scope, workspace, id)
  const wasThere = await deleteOne(scope, id, async () => [
    ...(await readDocumentsOf(scope, workspace, id)),
    ...(await readMarksOf(scope, workspace, new Set([id, ...below]))),
  ])
  // Until it was stopped, the turn may have created another subagent.
  await deleteBelow(scope, workspace, id)
  return wasThere
}

/**
 * Deletes the conversations of subagents, at every level, and returns them. Their marks are removed with the one above,
 * because a subagent hardly ever has any.
 */
async function deleteBelow(
  scope: Using<"open" | "runner" | "store">,
  workspace: WorkspaceId,
  id: SessionId,
): Promise<readonly SessionId[]> {
  const children = await readChildSessions(scope.store, workspace)
  const below: SessionId[] = []
  for (let next: readonly SessionId[] = [id]; next.length > 0; ) {
    next = next.flatMap((parent) => children.get(parent) ?? [])
    below.unshift(...next)
  }
  for (const child of below) await deleteOne(scope, child, () => readDocumentsOf(scope, workspace, child))
  return below
}

async function deleteOne(
  scope: Using<"open" | "runner">,
  id: SessionId,
  readDocuments: () => Promise<readonly DocumentRecord[]>,
): Promise<boolean> {
  try {
    await scope.runner.deleteSession(id, readDocuments)
  } catch (error) {
    if (isMeanwhileError(error, "not_found")) return false
    throw error
  }
  scope.open.get(id)?.reporter?.close()
  scope.open.remove(id)
  return true
}

/** Messages that wait for the session's agent, and documents of plugins. */
async function readDocumentsOf(
  { store }: Using<"store">,
  workspace: WorkspaceId,
  session: SessionId,
): Promise<readonly DocumentRecord[]> {
  const collections = [toSaidCollection(session), toDocumentsCollection(session)]
  return (await Promise.all(collections.map((collection) => store.documents(workspace, collection)))).flat()
}

/** Marks of what actors were told of these conversations' tasks. One collection has the marks of all conversations. */
async function readMarksOf(
  { store }: Using<"store">,
  workspace: WorkspaceId,
  sessions: ReadonlySet<string>,
): Promise<readonly DocumentRecord[]> {
  const marks = await store.documents(workspace, TOLD_MARKS)
  return marks.filter(({ id }) => sessions.has(id.split("/", 1)[0] ?? id))
}
