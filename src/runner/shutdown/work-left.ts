import type { WorkerView } from "../../plugin/worker-view.ts"
import type { TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasStore } from "../run/scope.ts"

/** The fate of the work that a runtime had when it closed. Turns are among the tasks. */
export interface WorkLeft {
  /** Commands that go on by themselves, and work that is back in the queue: whoever takes work next goes on with it. */
  readonly kept: readonly TaskRecord[]
  /** Work that could not go on without this process, with the reason in each record. */
  readonly stopped: readonly TaskRecord[]
  /** The other workers, listed after this one had said that it leaves and had handed its work back. */
  readonly others: readonly WorkerView[]
}

export const NOTHING_LEFT: WorkLeft = { kept: [], stopped: [], others: [] }

/** Reads how the tasks stand after a shutdown. A task that came to its own end meanwhile is neither kept nor stopped. */
export async function readWorkLeft({ store }: HasStore, ids: Iterable<TaskId>): Promise<Omit<WorkLeft, "others">> {
  const tasks = (await Promise.all([...ids].map((id) => store.task(id)))).filter((task) => task !== undefined)
  return { kept: tasks.filter(({ status }) => !isTerminal(status)), stopped: tasks.filter(isStoppedByShutdown) }
}

function isStoppedByShutdown(task: TaskRecord): boolean {
  if (task.status === "cancelled") return task.stop.by === "shutdown"
  return task.status === "interrupted" && task.by === "shutdown"
}
