import type { TaskRecord } from "../../task/record.ts"
import type { CapableTool } from "./capable-tool.ts"

/** When such a call moves to the background by itself. 0: it is there from the start; null: nobody can say. */
export function toThresholdMs(task: TaskRecord, capable: readonly CapableTool[]): number | null {
  const found = capable.find(({ plugin, tool }) => plugin === task.plugin && tool.name === task.tool)
  if (!found) return null
  const { movesAfterMs, tool, thresholdMs } = found
  if (typeof movesAfterMs === "number") return movesAfterMs
  if (movesAfterMs === "never") return null
  if (movesAfterMs === "start" || typeof tool.background !== "function") return 0
  const parsed = tool.input.safeParse(task.input)
  if (!parsed.success) return null
  const policy = tool.background(parsed.data)
  if (policy.mode === "never" || policy.mode === "on_request") return null
  return policy.mode === "always" ? 0 : (policy.ms ?? thresholdMs)
}
