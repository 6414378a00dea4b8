import type { SessionId, TaskId } from "../../task/id.ts"
import { isTerminal, LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { TaskFilter } from "../../task/store.ts"
import { cancelById } from "./cancel.ts"
import type { CancelScope, HasStore, HasWorker, HasWritten } from "../run/scope.ts"
import { readPages } from "../run/task-pages.ts"

const TURN_ENDED = "its turn ended"

/** Stops the tasks of lifetime `turn` that the turn started, itself or through its tasks. */
export async function endTurn(scope: CancelScope, turn: TaskId): Promise<void> {
  await stopAll(scope, { parentTask: turn, lifetimes: ["turn"] }, TURN_ENDED)
  for await (const page of readPages(scope, { parentTask: turn })) {
    for (const { id } of page) await endTurn(scope, id)
  }
}

/**
 * Stops tasks of lifetime `turn` that run here although their turn has ended: the turn's worker was gone, or died right
 * after that end. A task that was run again goes on: somebody wants it.
 */
export async function endLeftTasks(scope: CancelScope & HasWorker): Promise<void> {
  const worker = scope.worker.id
  for await (const page of readPages(scope, { worker, lifetimes: ["turn"], statuses: ["running"] })) {
    for (const { id, run, parentTask } of page) {
      if (run > 1 || !(await isBelowEndedTurn(scope, parentTask))) continue
      await cancelById(scope, id, { by: "lifetime", reason: TURN_ENDED })
    }
  }
}

/** False below a call in the foreground, which has no record: what is above the call is not known. */
async function isBelowEndedTurn(scope: HasStore, parentTask: TaskId | null): Promise<boolean> {
  for (let id = parentTask; id !== null; ) {
    const above = await scope.store.task(id)
    if (!above) return false
    if (above.kind === "turn") return isTerminal(above.status)
    id = above.parentTask
  }
  return false
}

/** Stops tasks of lifetime `turn` of a session that is not kept: its turns have no id that tasks could name. */
export async function endUnkeptTurn(scope: CancelScope & HasWritten, session: SessionId): Promise<void> {
  if (scope.written.sessions.has(session)) await stopAll(scope, { session, lifetimes: ["turn"] }, TURN_ENDED)
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
