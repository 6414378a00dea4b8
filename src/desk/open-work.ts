import type { ListedTask } from "../plugin/task-service.ts"
import type { WorkerView } from "../plugin/worker-view.ts"
import type { TaskId, WorkerId } from "../task/id.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"
import { WAITING_FOR_TASKS } from "../task/progress.ts"
import type { TaskSummary } from "../task/record.ts"
import { findAncestors } from "./asking-place.ts"
import type { Blocked } from "./blocked.ts"
import type { DeskScope } from "./desk-options.ts"
import { listAll } from "./list-all.ts"
import { isEndless, willTake } from "./workers.ts"

interface OpenWorkScope extends Pick<DeskScope, "workspace"> {
  readonly store: Pick<DeskScope["store"], "task">
  readonly tasks: Pick<DeskScope["tasks"], "list" | "workers">
}

/**
 * True if there is work that this process does or could bring on. False if nothing is left but questions to people,
 * commands that have no end, work that no worker can do, and work of others.
 */
export async function hasOpenWork(scope: OpenWorkScope, blocked: Pick<Blocked, "byQuestion">): Promise<boolean> {
  const { workspace, tasks, store } = scope
  const workers = await tasks.workers()
  const held = await blocked.byQuestion()
  const isLeft = (task: ListedTask): boolean =>
    held.has(task.id) || isEndless(task) || task.missing !== undefined || isOthers(task, workers)
  const waiting: TaskId[] = []
  const left: TaskSummary[] = []
  for await (const task of listAll(tasks, { workspace, statuses: LIVE_STATUSES })) {
    if (isLeft(task)) left.push(task)
    else if (isWaitingAgent(task)) waiting.push(task.id)
    else return true
  }
  if (waiting.length === 0) return false
  // An agent that waits for its tasks has no more to do than they have. Without any it has just been told their results.
  const above = await findAbove(store, left)
  return waiting.some((id) => !above.has(id))
}

function isWaitingAgent({ kind, status, progress }: TaskSummary): boolean {
  return kind === "agent" && status === "running" && progress?.phase === WAITING_FOR_TASKS
}

/** True if another worker that stays runs the task, or takes it. What a worker that leaves runs will be in the queue. */
function isOthers(task: TaskSummary, workers: readonly WorkerView[]): boolean {
  if (task.status === "queued") return workers.some((worker) => willTake(worker, task))
  if (task.status === "waiting") return false
  const runner = "worker" in task ? findWorker(workers, task.worker) : undefined
  return runner !== undefined && runner.where !== "process" && !runner.isSilent && !runner.announcement?.isLeaving
}

function findWorker(workers: readonly WorkerView[], wanted: WorkerId): WorkerView | undefined {
  return workers.find(({ id }) => id === wanted)
}

/** The tasks above these. */
async function findAbove(store: OpenWorkScope["store"], tasks: readonly TaskSummary[]): Promise<ReadonlySet<TaskId>> {
  const lines = await Promise.all(tasks.map((task) => findAncestors(store, task)))
  return new Set(lines.flat().map(({ id }) => id))
}
