import { isMeanwhileError } from "../../base/error.ts"
import type { DocumentRecord } from "../../task/document.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import { TOLD_MARKS, toDocumentsCollection } from "./documents.ts"
import { readFamily } from "../log/read-log.ts"
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
  await deleteBelow(scope, workspace, id)
  const wasThere = await deleteOne(scope, workspace, id)
  // Until it was stopped, the turn may have created another subagent.
  await deleteBelow(scope, workspace, id)
  return wasThere
}

/** Deletes the conversations of subagents, at every level, the lowest first. */
async function deleteBelow(
  scope: Using<"open" | "runner" | "store">,
  workspace: WorkspaceId,
  id: SessionId,
): Promise<void> {
  const [, ...below] = await readFamily(scope.store, workspace, [id])
  for (const child of below.toReversed()) await deleteOne(scope, workspace, child)
}

async function deleteOne(
  scope: Using<"open" | "runner" | "store">,
  workspace: WorkspaceId,
  id: SessionId,
): Promise<boolean> {
  try {
    await scope.runner.deleteSession(id, () => readDocumentsOf(scope, workspace, id))
  } catch (error) {
    if (isMeanwhileError(error, "not_found")) return false
    throw error
  }
  scope.open.get(id)?.reporter?.close()
  scope.open.remove(id)
  return true
}

/** Messages that wait for the session's agent, documents of plugins, and marks of what actors were told of its tasks. */
export async function readDocumentsOf(
  { store }: Using<"store">,
  workspace: WorkspaceId,
  session: SessionId,
): Promise<readonly DocumentRecord[]> {
  const found = await Promise.all([
    store.documents(workspace, toSaidCollection(session)),
    store.documents(workspace, toDocumentsCollection(session)),
    // One collection has the marks of all conversations.
    store.document(workspace, TOLD_MARKS, session),
    store.documents(workspace, TOLD_MARKS, `${session}/`),
  ])
  return found.flat().filter((document) => document !== undefined)
}
