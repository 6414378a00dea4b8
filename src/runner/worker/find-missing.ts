import type { MissingAbility, WorkerView } from "../../plugin/worker-view.ts"
import type { TaskSummary } from "../../task/record.ts"

type Needs = Pick<TaskSummary, "kind" | "plugin" | "tool">

/** What keeps a queued task from ever being taken; undefined: somebody can run it, or nobody knows. */
export function findMissing(task: Needs, workers: readonly WorkerView[]): MissingAbility | undefined {
  // One of an earlier version takes work, and does not say which.
  if (workers.some(({ announcement, host }) => announcement === null && host === null)) return undefined
  const announced = workers.flatMap(({ announcement }) => announcement ?? [])
  const { kind, plugin, tool } = task
  if (announced.length === 0) return { needs: "worker", name: "", text: "no worker is there" }
  const ofKind = announced.filter(({ kinds }) => kinds.includes(kind))
  if (ofKind.length === 0) return { needs: "kind", name: kind, text: `no worker takes ${kind} tasks` }
  const ofPlugin = ofKind.flatMap(({ plugins }) => plugins[plugin] ?? [])
  if (ofPlugin.includes(tool)) return undefined
  return ofKind.some(({ plugins }) => Object.hasOwn(plugins, plugin))
    ? { needs: "tool", name: tool, text: `no worker has the tool ${tool} of the plugin ${plugin}` }
    : { needs: "plugin", name: plugin, text: `no worker has the plugin ${plugin}` }
}
