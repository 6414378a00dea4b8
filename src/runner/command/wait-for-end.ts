import type { TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { RunnerScope } from "../scope.ts"

export interface EndWait {
  /** Without it there is no time limit. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/**
 * The task once its last run has ended, or as it stands when time is up or the signal aborts. Undefined when there is no
 * such task. Waiting for what runs here costs nothing, for what runs elsewhere a slow poll.
 */
export async function waitForEnd(scope: RunnerScope, id: TaskId, wait: EndWait = {}): Promise<TaskRecord | undefined> {
  const { timeoutMs, signal } = wait
  if (timeoutMs === 0 || signal?.aborted || scope.closed.signal.aborted) return scope.store.task(id)
  const over = Promise.withResolvers<void>()
  const cancelTimer = timeoutMs === undefined ? undefined : scope.clock.schedule(timeoutMs, over.resolve)
  const giveUp = () => over.resolve()
  signal?.addEventListener("abort", giveUp)
  scope.closed.signal.addEventListener("abort", giveUp)
  try {
    return await watch(scope, id, over.promise)
  } finally {
    cancelTimer?.()
    signal?.removeEventListener("abort", giveUp)
    scope.closed.signal.removeEventListener("abort", giveUp)
  }
}

async function watch(scope: RunnerScope, id: TaskId, over: Promise<void>): Promise<TaskRecord | undefined> {
  let isOver = false
  const ended = over.then(() => {
    isOver = true
    return null
  })
  const here = scope.active.get(id)
  const endedHere = here?.standing.in === "background" ? await Promise.race([here.ended.promise, ended]) : null
  if (endedHere) return endedHere
  return watchStore(scope, id, ended, () => isOver)
}

/** Subscribes before it reads, so that an end in between is not missed. */
async function watchStore(
  scope: RunnerScope,
  id: TaskId,
  over: Promise<null>,
  isOver: () => boolean,
): Promise<TaskRecord | undefined> {
  const { completionScanIntervalMs } = scope.config
  let woken = Promise.withResolvers<void>()
  const unsubscribe = scope.engine.bus.subscribeTask(id, () => woken.resolve())
  try {
    for (;;) {
      woken = Promise.withResolvers()
      const task = await scope.store.task(id)
      if (!task || isTerminal(task.status) || isOver()) return task
      const cancelPoll = scope.clock.schedule(completionScanIntervalMs, woken.resolve, { isBackground: true })
      await Promise.race([woken.promise, over])
      cancelPoll()
    }
  } finally {
    unsubscribe()
  }
}
