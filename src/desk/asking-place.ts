import { isAbsolute, relative, sep } from "node:path"
import type { TaskRecord } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"
import type { DeskScope } from "./desk-options.ts"

/** The tasks below which this one was started, the nearest first. A parent that was removed ends the line. */
export async function findAncestors(
  store: Pick<TaskStore, "task">,
  { parentTask }: Pick<TaskRecord, "parentTask">,
): Promise<readonly TaskRecord[]> {
  const ancestors: TaskRecord[] = []
  for (let id = parentTask; id !== null; ) {
    const task = await store.task(id)
    if (!task) break
    ancestors.push(task)
    id = task.parentTask
  }
  return ancestors
}

/** The sources that tell where a call was asked for. */
interface AskingPlace extends Pick<DeskScope, "isShared"> {
  readonly store: Pick<DeskScope["store"], "task">
  readonly tasks: Pick<DeskScope["tasks"], "workers">
}

/** The machine of the worker that runs the agent or turn that asked. Null: this machine, or nobody runs it now. */
export async function findAskingHost({ store, tasks }: AskingPlace, task: TaskRecord): Promise<string | null> {
  const ancestors = await findAncestors(store, task)
  const asking = ancestors.flatMap((above) => ("worker" in above ? above.worker : []))[0]
  if (asking === undefined) return null
  const worker = (await tasks.workers()).find(({ id }) => id === asking)
  return worker?.where === "elsewhere" ? (worker.host ?? "another machine") : null
}

/**
 * True if a call is meant for another folder than this one, or for another machine: a folder of the same path is not the same
 * folder there.
 */
export async function isAskedElsewhere(place: AskingPlace, task: TaskRecord, folder: string): Promise<boolean> {
  if (task.folder === null || !place.isShared) return false
  const way = relative(folder, task.folder)
  const isInside = way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
  return !isInside || (await findAskingHost(place, task)) !== null
}
