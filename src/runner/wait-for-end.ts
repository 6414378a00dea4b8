import type { TaskId } from "../task/id.ts"
import { isTerminal } from "../task/lifecycle.ts"
import type { TaskRecord } from "../task/record.ts"
import type { RunnerScope } from "./scope.ts"

export interface EndWait {
  /** Without it there is no time limit. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * The task once its last run has ended, or as it stands when time is up or the signal aborts. Undefined when there is no
 * such task. Subscribes before it reads, so an end in between is not missed; waiting costs nothing.
 */
export async function waitForEnd(scope: RunnerScope, id: TaskId, wait: EndWait = {}): Promise<TaskRecord | undefined> {
  const wakeUp = createWakeUp()
  const unsubscribe = scope.engine.bus.subscribeTask(id, wakeUp.wake)
  let isOver = wait.signal?.aborted ?? wait.timeoutMs === 0
  const giveUp = () => {
    isOver = true
    wakeUp.wake()
  }
  const cancelTimer = wait.timeoutMs === undefined ? undefined : scope.clock.schedule(wait.timeoutMs, giveUp)
  wait.signal?.addEventListener("abort", giveUp)
  try {
    for (;;) {
      const next = wakeUp.next()
      const task = await scope.store.task(id)
      if (!task || isTerminal(task.status) || isOver) return task
      await next
    }
  } finally {
    unsubscribe()
    cancelTimer?.()
    wait.signal?.removeEventListener("abort", giveUp)
  }
}

/** A wake that comes while nobody waits is kept for the next wait. */
function createWakeUp() {
  let current = Promise.withResolvers<void>()
  return {
    wake: () => current.resolve(),
    next(): Promise<void> {
      current = Promise.withResolvers()
      return current.promise
    },
  }
}
