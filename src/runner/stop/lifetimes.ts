import type { SessionId, TaskId } from "../../task/id.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { TaskFilter } from "../../task/store.ts"
import { cancelById } from "./cancel.ts"
import type { CancelScope, HasWritten } from "../run/scope.ts"
import { readPages } from "../run/task-pages.ts"

/** Stops tasks of lifetime `turn` of a session that is not kept: its turns have no id that tasks could name. */
export async function endUnkeptTurn(scope: CancelScope & HasWritten, session: SessionId): Promise<void> {
  if (scope.written.sessions.has(session)) await stopAll(scope, { session, lifetimes: ["turn"] }, "its turn ended")
}

/** Stops the session's tasks of lifetime `turn` or `session`. */
export async function closeSession(scope: CancelScope & HasWritten, session: SessionId): Promise<void> {
  await stopAll(scope, { session, lifetimes: ["turn", "session"] }, "its session was closed")
  scope.written.sessions.forget(session)
}

/** Cancels the live tasks of a filter. Returns those that were found. */
export async function stopAll(scope: CancelScope, filter: TaskFilter, reason: string): Promise<TaskId[]> {
  const stopped: TaskId[] = []
  for await (const page of readPages(scope, { ...filter, statuses: LIVE_STATUSES })) {
    for (const { id } of page) {
      if (await cancelById(scope, id, { by: "lifetime", reason })) stopped.push(id)
    }
  }
  return stopped
}
