import type { ListedTask } from "../plugin/task-view.ts"
import type { WorkerView } from "../plugin/worker-view.ts"
import type { Runner } from "../runner/runner.ts"
import type { TaskStore } from "../task/store.ts"
import { findFirstStart } from "./first-start.ts"

/** One row of a task list: the task, and what a list shows beside it. */
export interface TaskRow {
  readonly task: ListedTask
  /** 1 for the next to run. Null: it is not queued, or nobody can run it. */
  readonly placeInQueue: number | null
  readonly groupName: string | null
  /** The worker that runs it. */
  readonly worker: WorkerView | null
  /** Set where several workers have had its run: nobody measured how long a lost one ran it. */
  readonly firstStartedAt: number | null
}

export async function toTaskRows(
  store: Pick<TaskStore, "placeInQueue" | "group" | "run" | "events">,
  { workers: listWorkers }: Pick<Runner, "workers">,
  tasks: readonly ListedTask[],
): Promise<readonly TaskRow[]> {
  const workers = tasks.some((task) => "worker" in task) ? await listWorkers() : []
  return Promise.all(
    tasks.map(async (task) => {
      const [firstStartedAt, placeInQueue = null, group] = await Promise.all([
        findFirstStart(store, task),
        task.status === "queued" && !task.missing ? store.placeInQueue(task.id) : null,
        task.group ? store.group(task.group) : undefined,
      ])
      const worker = "worker" in task ? workers.find(({ id }) => id === task.worker) : undefined
      return { task, placeInQueue, groupName: group?.name ?? null, worker: worker ?? null, firstStartedAt }
    }),
  )
}
