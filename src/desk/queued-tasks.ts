import type { WorkerPlace } from "../plugin/worker-view.ts"
import type { Bus } from "../task/bus.ts"
import type { TaskId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"

/** A task that is taken sooner was called queued a moment ago: nobody needs to hear of it again. */
const SOON_MS = 1_000
/** The most tasks that are followed: a person would not read more, and each is read whenever another process writes. */
const MOST_FOLLOWED = 100

type QueuedTask = Pick<TaskRecord, "id" | "status" | "title">

export interface QueuedTasksParts {
  readonly store: { task(id: TaskId): Promise<QueuedTask | undefined> }
  readonly bus: Pick<Bus, "subscribeTask">
  readonly tasks: { get(id: TaskId): Promise<{ readonly worker: WorkerPlace | null }> }
  /** Called when another process has taken a task that had to wait in the queue. */
  readonly onTaken: (task: QueuedTask, worker: WorkerPlace) => void | Promise<void>
}

export function createQueuedTasks({ store, bus, tasks, onTaken }: QueuedTasksParts) {
  const followed = new Map<TaskId, () => void>()

  async function tell(task: QueuedTask): Promise<void> {
    const { worker } = await tasks.get(task.id)
    if (worker && worker.where !== "process") await onTaken(task, worker)
  }

  function leave(id: TaskId): void {
    followed.get(id)?.()
    followed.delete(id)
  }

  return {
    /** Follows a queued task, and tells once for each time that it is in the queue. */
    follow({ id, status }: Pick<TaskRecord, "id" | "status">): void {
      if (status !== "queued" || followed.has(id) || followed.size >= MOST_FOLLOWED) return
      const sinceMs = performance.now()
      const look = async (): Promise<void> => {
        const task = await store.task(id)
        if (task?.status === "queued" || !followed.has(id)) return
        leave(id)
        if (task?.status === "running" && performance.now() - sinceMs >= SOON_MS) await tell(task)
      }
      const lookSafely = (): void => void look().catch(() => {})
      followed.set(id, bus.subscribeTask(id, lookSafely))
      lookSafely()
    },
    close(): void {
      for (const id of followed.keys()) leave(id)
    },
  }
}
