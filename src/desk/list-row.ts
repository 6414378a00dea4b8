import type { ListedTask } from "../plugin/task-view.ts"
import type { WorkerView } from "../plugin/worker-view.ts"
import type { Runner } from "../runner/runner.ts"
import { isTerminal } from "../task/lifecycle.ts"
import type { TaskRecord } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"
import type { Blocked } from "./blocked.ts"
import type { InboxItem } from "./inbox.ts"

/** One row of a task list: the task, and what a list shows beside it. */
export interface ListRow {
  readonly task: ListedTask
  /** 1 for the next task to run. Null if the task is not queued, or nobody can run it. */
  readonly placeInQueue: number | null
  readonly groupName: string | null
  /** The worker that runs it. */
  readonly worker: WorkerView | null
  /** When the run was first started, if several workers have had it: nobody measured how long a lost worker ran it. */
  readonly firstStartedAt: number | null
  /** The questions that hold the task up: only a person's answer brings it on. */
  readonly heldUpBy: readonly InboxItem[]
}

interface RowSources {
  readonly store: Pick<TaskStore, "placeInQueue" | "group" | "run" | "events">
  readonly tasks: Pick<Runner, "workers">
  readonly blocked: Pick<Blocked, "byQuestion">
}

export async function toListRows(
  { store, tasks: { workers: listWorkers }, blocked }: RowSources,
  tasks: readonly ListedTask[],
): Promise<readonly ListRow[]> {
  const workers = tasks.some((task) => "worker" in task) ? await listWorkers() : []
  const questions = tasks.some(({ status }) => !isTerminal(status)) ? await blocked.byQuestion() : null
  return Promise.all(
    tasks.map(async (task) => {
      const [firstStartedAt, placeInQueue = null, group] = await Promise.all([
        findFirstStart(store, task),
        task.status === "queued" && !task.missing ? store.placeInQueue(task.id) : null,
        task.group ? store.group(task.group) : undefined,
      ])
      const worker = "worker" in task ? workers.find(({ id }) => id === task.worker) : undefined
      const heldUpBy = questions?.get(task.id) ?? []
      return { task, placeInQueue, groupName: group?.name ?? null, worker: worker ?? null, firstStartedAt, heldUpBy }
    }),
  )
}

/** More than a run has before it is started. */
const EVENTS_READ = 20

/**
 * When a run was first started, if several workers have had it: nobody measured how long a lost worker ran it. Null for a
 * tool, and if one worker has measured all of the run.
 */
export async function findFirstStart(
  store: Pick<TaskStore, "run" | "events">,
  { id, kind, run, fence }: Pick<TaskRecord, "id" | "kind" | "run" | "fence">,
): Promise<number | null> {
  if (kind === "tool" || fence <= run) return null
  const before = run > 1 ? await store.run(id, run - 1) : undefined
  const events = await store.events(id, before?.lastSequence ?? 0, EVENTS_READ)
  return events.find((event) => event.run === run && event.body.type === "task.started")?.at ?? null
}
