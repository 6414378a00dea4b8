import type { TaskEvent, TaskEventBody } from "../../../task/event.ts"
import type { TaskId } from "../../../task/id.ts"

export interface EventRow {
  readonly sequence: number
  readonly run: number
  readonly at: number
  readonly type: string
  readonly body: string | null
}

/** The type has a column of its own; most events have little else. */
export function toEventText(body: TaskEventBody): string | null {
  if (body.type === "task.queued" || body.type === "task.retrieved") return null
  const { type: _, ...rest } = body
  return JSON.stringify(rest)
}

export function toEvent(taskId: TaskId, { sequence, run, at, type, body }: EventRow): TaskEvent {
  const rest = body === null ? {} : (JSON.parse(body) as object)
  return { taskId, sequence, run, at, body: { type, ...rest } as TaskEventBody }
}
