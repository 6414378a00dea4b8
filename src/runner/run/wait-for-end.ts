import type { TaskId, WorkspaceId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { RunnerScope } from "./scope.ts"

export interface EndWait {
  /** Another workspace's task does not exist for who asks. Without it: anybody's. */
  readonly workspace?: WorkspaceId
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
  if (timeoutMs === 0 || signal?.aborted || scope.closed.signal.aborted) return read(scope, id, wait)
  const over = Promise.withResolvers<void>()
  const cancelTimer = timeoutMs === undefined ? undefined : scope.clock.schedule(timeoutMs, over.resolve)
  const giveUp = () => over.resolve()
  signal?.addEventListener("abort", giveUp)
  scope.closed.signal.addEventListener("abort", giveUp)
  try {
    return await watch(scope, id, wait, over.promise)
  } finally {
    cancelTimer?.()
    signal?.removeEventListener("abort", giveUp)
    scope.closed.signal.removeEventListener("abort", giveUp)
  }
}

async function read({ store }: RunnerScope, id: TaskId, { workspace }: EndWait): Promise<TaskRecord | undefined> {
  const task = await store.task(id)
  return workspace === undefined || task?.workspace === workspace ? task : undefined
}

async function watch(
  scope: RunnerScope,
  id: TaskId,
  wait: EndWait,
  over: Promise<void>,
): Promise<TaskRecord | undefined> {
  let isOver = false
  const ended = over.then(() => {
    isOver = true
    return null
  })
  const here = scope.active.get(id)
  const isOurs = here?.standing.in === "background" && (wait.workspace ?? here.workspace) === here.workspace
  const endedHere = isOurs ? await Promise.race([here.ended.promise, ended]) : null
  if (endedHere) return endedHere
  return watchStore(scope, id, wait, ended, () => isOver)
}

/** Subscribes before it reads, so that an end in between is not missed. */
async function watchStore(
  scope: RunnerScope,
  id: TaskId,
  wait: EndWait,
  over: Promise<null>,
  isOver: () => boolean,
): Promise<TaskRecord | undefined> {
  const { completionScanIntervalMs } = scope.config
  let woken = Promise.withResolvers<void>()
  const unsubscribe = scope.engine.bus.subscribeTask(id, (mayBeOver) => mayBeOver && woken.resolve())
  try {
    for (;;) {
      woken = Promise.withResolvers()
      const task = await read(scope, id, wait)
      if (!task || isTerminal(task.status) || isOver()) return task
      const cancelPoll = scope.clock.schedule(completionScanIntervalMs, woken.resolve, { isBackground: true })
      await Promise.race([woken.promise, over])
      cancelPoll()
    }
  } finally {
    unsubscribe()
  }
}
