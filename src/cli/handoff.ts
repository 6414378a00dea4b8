import type { Runtime } from "../app.ts"
import type { Task } from "./format.ts"
import { formatPlace, type WorkerRow } from "./format-worker.ts"

/** For where nobody can be asked. */
export const AT_NEXT_START = "at the next start of a chat or a worker"

type Needs = Pick<Task, "kind"> & Partial<Pick<Task, "plugin" | "tool">>

/** How something goes on that this program leaves to others: with whom, or once somebody is there. */
export async function describeHandoff({ tasks }: Pick<Runtime, "tasks">, needs: Needs): Promise<string> {
  const [one, ...others] = (await tasks.workers()).filter((worker) => canTake(worker, needs))
  if (!one) return AT_NEXT_START
  return others.length > 0
    ? `with one of ${others.length + 1} other workers`
    : `with another worker (${formatPlace(one)})`
}

/** How something goes on that another program runs. */
export function describeRunner(worker: Parameters<typeof formatPlace>[0]): string {
  return `with the worker that runs it (${formatPlace(worker)})`
}

function canTake({ where, announcement }: WorkerRow, { kind, plugin, tool }: Needs): boolean {
  if (where === "process" || announcement?.takes !== "all" || !announcement.kinds.includes(kind)) return false
  if (plugin === undefined || tool === undefined) return true
  return announcement.plugins[plugin]?.includes(tool) ?? false
}
