import type { MissingAbility, WorkerView } from "../../plugin/worker-view.ts"
import type { TaskSummary } from "../../task/record.ts"
import type { HasQueue, HasWorker } from "../run/scope.ts"
import { isSkipped } from "./folder-mismatch.ts"

type Needs = Pick<TaskSummary, "id" | "run" | "kind" | "session" | "plugin" | "tool" | "folder">

/**
 * The ability that a queued task needs and no worker has. Undefined: a worker can run the task, or nobody can say,
 * because the own work of other processes is not known here.
 */
export function findMissingAbility(
  scope: HasWorker & HasQueue,
  task: Needs,
  living: readonly WorkerView[],
): MissingAbility | undefined {
  const { kind, plugin, tool, folder } = task
  // This process leaves the task alone if it takes only its own work.
  const isOthers = (kind === "turn" ? scope.queue.ownTurns : scope.queue.own)?.has(task) === false
  const workers = isOthers ? living.filter(({ id }) => id !== scope.worker.id) : living
  // A worker of an earlier version takes work without announcing it; a worker that starts has not announced it yet.
  if (workers.some(({ announcement, host, isStarting }) => announcement === null && (host === null || isStarting)))
    return undefined
  const announced = workers.flatMap(({ announcement }) => announcement ?? [])
  if (announced.length === 0) return { needs: "worker", name: "", text: "no worker is there" }
  const ofKind = announced.filter(({ kinds }) => kinds.includes(kind))
  if (ofKind.length === 0) return { needs: "kind", name: kind, text: `no worker takes ${kind} tasks` }
  const able = ofKind.filter(({ plugins }) => plugins[plugin]?.includes(tool))
  if (able.length > 0) {
    // A worker that takes all work soon fails the task, with the name of the missing folder.
    const named = { ...task, taskId: task.id }
    if (!able.every(({ takes, leaves }) => takes === "own" && isSkipped(leaves, named))) return undefined
    // A record of an earlier version does not name its folder.
    return { needs: "folder", name: folder ?? "", text: `no worker has the folder ${folder ?? "that it names"}` }
  }
  return ofKind.some(({ plugins }) => Object.hasOwn(plugins, plugin))
    ? { needs: "tool", name: tool, text: `no worker has the tool ${tool} of the plugin ${plugin}` }
    : { needs: "plugin", name: plugin, text: `no worker has the plugin ${plugin}` }
}
