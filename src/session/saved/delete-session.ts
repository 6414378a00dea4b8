import { isMeanwhileError } from "../../base/error.ts"
import type { DocumentRecord } from "../../task/document.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import { TOLD_MARKS, toDocumentsCollection } from "./documents.ts"
import { listSessions } from "../log/list-sessions.ts"
import { parseSessionData } from "../log/session-data.ts"
import { toSaidCollection } from "../log/settle-operations.ts"
import { stopTurn } from "../conversation/stop-turn.ts"
import type { Using } from "../conversation/scope.ts"

/**
 * Removes a conversation and those of its subagents, which nobody could find any more without it. Dying in between leaves
 * it listed: deleting it again removes the rest. False when it was gone already.
 */
export async function deleteSession(
  scope: Using<"log" | "open" | "runner" | "store">,
  workspace: WorkspaceId,
  id: SessionId,
): Promise<boolean> {
  const open = scope.open.get(id)
  // First of all: it would ask its model what to do without its subagents.
  if (open) stopTurn(scope, open, "the conversation was deleted")
  await deleteBelow(scope, workspace, id)
  const wasThere = await deleteOne(scope, workspace, id)
  // Until it was stopped it may have made another.
  await deleteBelow(scope, workspace, id)
  return wasThere
}

async function deleteBelow(
  scope: Using<"open" | "runner" | "store">,
  workspace: WorkspaceId,
  id: SessionId,
): Promise<void> {
  const children = await readChildren(scope, workspace)
  const below: SessionId[] = []
  for (let next: readonly SessionId[] = [id]; next.length > 0; ) {
    next = next.flatMap((parent) => children.get(parent) ?? [])
    below.unshift(...next)
  }
  for (const child of below) await deleteOne(scope, workspace, child)
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

/** Messages that wait for its agent, documents of plugins, and marks of what actors were told of its tasks. */
async function readDocumentsOf(
  { store }: Using<"store">,
  workspace: WorkspaceId,
  session: SessionId,
): Promise<readonly DocumentRecord[]> {
  const [said, kept, marks] = await Promise.all([
    store.documents(workspace, toSaidCollection(session)),
    store.documents(workspace, toDocumentsCollection(session)),
    store.documents(workspace, TOLD_MARKS),
  ])
  return [...said, ...kept, ...marks.filter(({ id }) => id === session || id.startsWith(`${session}/`))]
}

/** All that are below another, by that one. */
async function readChildren(
  { store }: Using<"store">,
  workspace: WorkspaceId,
): Promise<ReadonlyMap<SessionId, readonly SessionId[]>> {
  const children = new Map<SessionId, SessionId[]>()
  for await (const { id, data } of listSessions(store, workspace)) {
    const { parent } = parseSessionData(data)
    if (parent) children.set(parent, [...(children.get(parent) ?? []), id])
  }
  return children
}
