import { isMeanwhileError } from "../../base/error.ts"
import type { DocumentRecord } from "../../task/document.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import { TERMINAL_STATUSES } from "../../task/lifecycle.ts"
import type { OperationOf } from "../../task/operation.ts"
import type { CancelScope, HasEngine, HasSpool, HasStore, HasWritten } from "../run/scope.ts"
import { readAll } from "../run/task-pages.ts"
import { waitForEnd } from "../run/wait-for-end.ts"
import { stopAll } from "./lifetimes.ts"

/** Reads the documents that are removed with a session, directly before the commit that removes both. */
export type ReadDocuments = () => Promise<readonly DocumentRecord[]>

/**
 * Stops all tasks of a session but those of lifetime `forever`, waits for them to end, and removes the session. Its ended
 * tasks and their results go with it, whether or not anybody has read them.
 */
export async function deleteSession(
  scope: CancelScope & HasEngine & HasSpool & HasWritten,
  session: SessionId,
  readDocuments: ReadDocuments = async () => [],
): Promise<void> {
  const mortal = { session, lifetimes: ["turn", "session", "runtime"] } as const
  const stopped = await stopAll(scope, mortal, "its session was deleted")
  await Promise.all(stopped.map((id) => waitForEnd(scope, id)))
  const ended = await readAll(scope, { session, statuses: TERMINAL_STATUSES })
  const removals = (await readDocuments()).map(toRemoval)
  await scope.store.commit([...removals, { op: "session.delete", id: session }])
  await Promise.all(ended.map(({ id }) => removeFiles(scope, id)))
}

export interface IdleSince {
  readonly idleSince: number
  /** Removed with the sessions. */
  readonly documents: readonly DocumentRecord[]
}

/**
 * Removes sessions and their documents together, unless one of the sessions is in use: then nothing is removed. Nothing is
 * stopped for it. True if they are gone.
 */
export async function deleteIdleSessions(
  scope: HasStore & HasSpool & HasWritten,
  sessions: readonly SessionId[],
  { idleSince, documents }: IdleSince,
): Promise<boolean> {
  const ended = await Promise.all(sessions.map((session) => readAll(scope, { session, statuses: TERMINAL_STATUSES })))
  const deletes = sessions.map((id) => ({ op: "session.delete", id, ifIdleSince: idleSince }) as const)
  try {
    await scope.store.commit([...documents.map(toRemoval), ...deletes])
  } catch (error) {
    if (isMeanwhileError(error, "wrong_state") || isMeanwhileError(error, "not_found")) return false
    throw error
  }
  await Promise.all(ended.flat().map(({ id }) => removeFiles(scope, id)))
  return true
}

function toRemoval({ workspace, collection, id }: DocumentRecord): OperationOf<"document.delete"> {
  return { op: "document.delete", workspace, collection, id }
}

/**
 * Removes the files of a task that is gone from the store. A task that was retried in the last moment keeps them. A crash
 * before this leaves files without a task, which the sweep of any process removes.
 */
async function removeFiles(scope: HasStore & HasSpool & HasWritten, id: TaskId): Promise<void> {
  if (await scope.store.task(id)) return
  scope.written.heldInputs.delete(id)
  await scope.spool.remove(id)
}
