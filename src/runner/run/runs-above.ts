import type { TaskId } from "../../task/id.ts"
import { isTurn } from "../tool/tool-source.ts"
import type { HasActive, HasStore } from "./scope.ts"
import { type ActiveRun, type RunOrigin, toOrigin } from "./active-run.ts"

/**
 * The run itself, then the runs that asked for it, as far as they are in this process: a call, its turn, its agent, …
 */
export function runsAbove({ active }: HasActive, run: ActiveRun): ActiveRun[] {
  const found: ActiveRun[] = []
  for (let next: ActiveRun | undefined = run; next; ) {
    found.push(next)
    next = runAbove({ active }, next)
  }
  return found
}

/** The run that asked for this one, if it is in this process. */
export function runAbove({ active }: HasActive, { above, origin: { parentTask } }: ActiveRun): ActiveRun | undefined {
  return above ?? findHere({ active }, parentTask) ?? undefined
}

/** The run of the task in this process now. A caller that waits keeps it: later this process may have taken the task anew. */
export function findHere({ active }: HasActive, id: TaskId | null | undefined): ActiveRun | null {
  return (id ? active.get(id) : undefined) ?? null
}

/** Where a task comes from. The task may be a call in the foreground, which the store does not know yet. */
export async function findOrigin({ active, store }: HasStore & HasActive, id: TaskId): Promise<RunOrigin | undefined> {
  const run = active.get(id)
  if (run) return run.origin
  const task = await store.task(id)
  return task && toOrigin(task)
}

/**
 * True if no caller waits for the run: it, or a run above it, is a task in the background. After a restart a turn may go
 * on before its agent's task does. That task is found in the store, which knows no calls in the foreground.
 */
export async function isInBackground(scope: HasStore & HasActive, taskId: TaskId | null | undefined): Promise<boolean> {
  for (let id = taskId; id; ) {
    const run = scope.active.get(id)
    if (run?.standing.in === "background" && !isTurn(run.call)) return true
    const task = run ? undefined : await scope.store.task(id)
    if (task && task.kind !== "turn") return true
    id = run ? run.origin.parentTask : task?.parentTask
  }
  return false
}
