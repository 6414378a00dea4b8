import type { Runtime } from "../../app.ts"
import { shortId, type Task, type TaskId, toLine } from "../format.ts"
import { formatPlace } from "../format-worker.ts"
import type { Screen } from "../screen/screen.ts"

/** Of what begins sooner it was told a moment ago that it was queued. */
const SOON_MS = 1_000
/** More would not be read, and each is looked at whenever anything happens elsewhere. */
const MOST_FOLLOWED = 100

type QueuedTask = Pick<Task, "id" | "status" | "title">

/** What a runtime knows of queued tasks. */
export interface QueueView {
  readonly engine: {
    readonly store: { task(id: TaskId): Promise<QueuedTask | undefined> }
    readonly bus: Pick<Runtime["engine"]["bus"], "subscribeTask">
  }
  readonly tasks: { get(id: TaskId): Promise<{ readonly worker: Parameters<typeof formatPlace>[0] | null }> }
}

/** Says when another process takes a task that had to wait in the queue, and which one. */
export interface QueuedTasks {
  /** Once for each time that it is in the queue. */
  follow(task: Pick<Task, "id" | "status">): void
  close(): void
}

export function createQueuedTasks({ engine, tasks }: QueueView, screen: Pick<Screen, "print">): QueuedTasks {
  const followed = new Map<TaskId, () => void>()

  async function tell({ id, title }: QueuedTask): Promise<void> {
    const { worker } = await tasks.get(id)
    if (!worker || worker.where === "process") return
    const where = `${worker.where === "elsewhere" ? "on " : ""}${formatPlace(worker)}`
    screen.print(`[${shortId(id)}] runs now ${where}: ${toLine(title)}`)
  }

  function leave(id: TaskId): void {
    followed.get(id)?.()
    followed.delete(id)
  }

  return {
    follow({ id, status }) {
      if (status !== "queued" || followed.has(id) || followed.size >= MOST_FOLLOWED) return
      const sinceMs = performance.now()
      const look = async (): Promise<void> => {
        const task = await engine.store.task(id)
        if (task?.status === "queued" || !followed.has(id)) return
        leave(id)
        if (task?.status === "running" && performance.now() - sinceMs >= SOON_MS) await tell(task)
      }
      const lookSafely = (): void => void look().catch(() => {})
      followed.set(id, engine.bus.subscribeTask(id, lookSafely))
      lookSafely()
    },
    close() {
      for (const id of followed.keys()) leave(id)
    },
  }
}
