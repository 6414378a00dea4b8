import { MeanwhileError } from "../../base/error.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { RunReference } from "../../task/operation.ts"
import type { SessionTable, StoredTask, TaskTable } from "./tables.ts"

export function notFound(what: string, id: string): MeanwhileError {
  return new MeanwhileError("not_found", `There is no ${what} ${id}. Check the id; it may have been removed.`, { id })
}

export function wrongState({ details, course, state }: StoredTask, wish: string): MeanwhileError {
  const text = `Task ${details.id} is ${state.status} in run ${course.run}: ${wish}. Read the task again before deciding.`
  return new MeanwhileError("wrong_state", text, { taskId: details.id, status: state.status, run: course.run })
}

export function staleClaim({ details, course }: StoredTask): MeanwhileError {
  const text = `Task ${details.id} is no longer claimed by this worker (its fence is ${course.fence} now). Stop working on it.`
  return new MeanwhileError("stale_claim", text, { taskId: details.id, fence: course.fence })
}

/** Refuses a session that exists in another workspace, as if there were none of that id. */
export function requireOwnSession(
  sessions: SessionTable,
  { workspace, session }: { readonly workspace: WorkspaceId; readonly session: SessionId | null },
): void {
  if (session === null) return
  const home = sessions.workspaceOf(session)
  if (home !== undefined && home !== workspace) throw notFound("session", session)
}

export function requireTask(tasks: TaskTable, id: TaskId): StoredTask {
  const task = tasks.find(id)
  if (!task) throw notFound("task", id)
  return task
}

/** A claim holds while its run is running or stopping. */
export function isClaimedUnder({ course, state }: StoredTask, run: number, fence: number): boolean {
  return course.run === run && course.fence === fence && (state.status === "running" || state.status === "stopping")
}

/** Refuses as a stale claim also when the task is gone: nobody has it any more. */
export function requireClaimed(tasks: TaskTable, { taskId, run, fence }: Required<RunReference>): void {
  const task = tasks.find(taskId)
  if (!task) throw new MeanwhileError("stale_claim", `Task ${taskId} is gone. Stop working on it.`, { taskId })
  if (!isClaimedUnder(task, run, fence)) throw staleClaim(task)
}

/** Returns the task if the run is the current one, has not ended and, if a fence is given, is claimed under that fence. */
export function requireLiveRun(tasks: TaskTable, { taskId, run, fence }: RunReference): StoredTask {
  const task = requireTask(tasks, taskId)
  if (fence !== undefined && !isClaimedUnder(task, run, fence)) throw staleClaim(task)
  if (task.course.run !== run) throw wrongState(task, `run ${run} is not the current one`)
  if (isTerminal(task.state.status)) throw wrongState(task, "the run has ended")
  return task
}
