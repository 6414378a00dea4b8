import { isAbsolute, relative, sep } from "node:path"
import type { Runner } from "../runner/runner.ts"
import type { TaskRecord } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"
import { findAncestors } from "./ancestors.ts"

/** The sources that tell where a call was asked for. */
export interface AskingPlace {
  readonly store: Pick<TaskStore, "task">
  readonly tasks: Pick<Runner, "workers">
  /** True if processes on other machines use the store too. A data folder belongs to one machine. */
  readonly isShared: boolean
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
