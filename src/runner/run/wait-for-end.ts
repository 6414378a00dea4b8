import { lookUntil } from "../../base/look-until.ts"
import type { TaskId, WorkspaceId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { ActiveRun } from "./active-run.ts"
import type { HasActive, HasStore, WaitScope } from "./scope.ts"

export interface EndWait {
  /** Tasks of other workspaces are not found. Undefined: tasks of every workspace are. */
  readonly workspace?: WorkspaceId
  /** Without it there is no time limit. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * The task once its last run has ended, or as it stands when time is up or the signal aborts. Undefined when there is no
 * such task. Waiting for a run of this process costs nothing; for a run elsewhere it costs a slow poll.
 */
export async function waitForEnd(scope: WaitScope, id: TaskId, wait: EndWait = {}): Promise<TaskRecord | undefined> {
  const here = findOwn(scope, id, wait)
  let runsHere = here !== undefined
  let endedHere: TaskRecord | null = null
  const found = await lookUntil<{ readonly task: TaskRecord | undefined }>({
    clock: scope.clock,
    pollMs: scope.config.completionScanIntervalMs,
    timeoutMs: wait.timeoutMs,
    signals: [wait.signal, scope.active.closed.signal],
    subscribe(wake) {
      let isOver = false
      let unsubscribe: (() => void) | undefined
      function watchStore(): void {
        if (!isOver) unsubscribe = scope.engine.bus.subscribeTask(id, (mayBeOver) => mayBeOver && wake())
      }
      if (!here) watchStore()
      // Null: this process did not write the end, and only the store knows how the task goes on.
      void here?.ended.promise.then((task) => {
        runsHere = false
        endedHere = task
        if (!task) watchStore()
        wake()
      })
      return () => {
        isOver = true
        unsubscribe?.()
      }
    },
    async look() {
      if (runsHere) return undefined
      if (endedHere) return { task: endedHere }
      const task = await read(scope, id, wait)
      return !task || isTerminal(task.status) ? { task } : undefined
    },
  })
  return found ? found.task : read(scope, id, wait)
}

/** The task's run in this process, if the store knows that run. */
function findOwn({ active }: HasActive, id: TaskId, { workspace }: EndWait): ActiveRun | undefined {
  const here = active.get(id)
  return here?.standing.in === "background" && (workspace ?? here.origin.workspace) === here.origin.workspace
    ? here
    : undefined
}

async function read({ store }: HasStore, id: TaskId, { workspace }: EndWait): Promise<TaskRecord | undefined> {
  const task = await store.task(id)
  return workspace === undefined || task?.workspace === workspace ? task : undefined
}
