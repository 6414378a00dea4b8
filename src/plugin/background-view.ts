import type { TaskRecord } from "../task/record.ts"
import { STATUS_NAMES } from "../task/status-names.ts"
import type { BackgroundHandle, BackgroundResult } from "./background-capable.ts"
import type { TaskView } from "./task-service.ts"

export function toBackgroundHandle({ task, estimate }: TaskView): BackgroundHandle {
  return {
    taskId: task.id,
    pluginName: task.plugin,
    toolName: task.tool,
    createdAt: task.createdAt,
    estimatedDurationSeconds: estimate && estimate.medianMs / 1_000,
    metadata: task.metadata,
  }
}

export function toBackgroundResult({ task }: TaskView): BackgroundResult {
  const completedAt = "endedAt" in task ? task.endedAt : null
  return {
    taskId: task.id,
    status: STATUS_NAMES[task.status].jaato,
    result: "patch" in task ? (task.patch?.payload ?? null) : null,
    error: toError(task),
    startedAt: task.startedAt,
    completedAt,
    durationSeconds: completedAt === null ? null : task.ranMs / 1_000,
  }
}

function toError(task: TaskRecord): string | null {
  if ("failure" in task) return task.failure.message
  if (task.status === "cancelled") return `It was cancelled (${task.stop.by}): ${task.stop.reason}`
  if (task.status === "timed_out") return `It was stopped at its time limit: ${task.stop.reason}`
  return null
}
