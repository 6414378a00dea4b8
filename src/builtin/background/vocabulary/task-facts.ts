import { type JsonObject, type JsonValue, toJson } from "../../../base/json.ts"
import { contentOf } from "../../../plugin/tool.ts"
import type { PlacedTask } from "../../../plugin/task-family.ts"
import type { ListedTask, TaskView } from "../../../plugin/task-view.ts"
import type { MissingAbility } from "../../../plugin/worker-view.ts"
import type { Patch } from "../../../task/patch.ts"
import type { ReportedProgress } from "../../../task/progress.ts"
import type { TaskRecord } from "../../../task/record.ts"

const SHORT_ID_CHARACTERS = 8

/** The part of an id that is shown. Every command takes it, and says if several ids begin with it. */
export function toShortId(id: string): string {
  return id.slice(0, SHORT_ID_CHARACTERS)
}

const MOST_BELOW = 50

/** The task of the same list that started this one; empty at the top. */
export function toAbove({ above }: PlacedTask<ListedTask>): JsonObject {
  return above === null ? {} : { parent_task_id: toShortId(above) }
}

/** The work that a task has started, each behind the task that started it; empty if there is none. */
export function toBelow(below: readonly PlacedTask<ListedTask>[]): JsonObject {
  if (below.length === 0) return {}
  const shown = below.slice(0, MOST_BELOW).map((placed): JsonObject => {
    const { id, title, status } = placed.task
    return { task_id: toShortId(id), title, status, ...toAbove(placed) }
  })
  return { below: shown, ...(below.length > shown.length && { below_count: below.length }) }
}

/** Tasks that go on although the task that had started them was stopped; empty if there are none. */
export function toOutlived({ outlived }: TaskView): JsonObject {
  return outlived.length === 0 ? {} : { goes_on: outlived.map(toShortId) }
}

/** How far an agent says it is; empty if it has said nothing. */
export function toReported(reported: ReportedProgress | undefined): JsonObject {
  if (!reported) return {}
  return { reported: Object.fromEntries(Object.entries(reported).filter(([, value]) => value !== null)) }
}

/** Why a queued task will not begin; empty if a worker can run it. */
export function toLack(missing: MissingAbility | null | undefined): JsonObject {
  return missing ? { cannot_run: missing.text } : {}
}

/** The result of a run as plain data: text instead of content made for display. */
export function toPlainResult({ payload, digest }: Patch): JsonValue {
  const shown = contentOf(payload)?.map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`))
  if (shown) return shown.join("\n")
  return payload === null && digest.length > 0 ? digest.join("\n") : payload
}

/** Why a task ended without a result; empty for a live or a completed task. */
export function toEnding(task: TaskRecord): JsonObject {
  switch (task.status) {
    case "failed":
    case "interrupted":
      return { error: task.failure.message }
    case "cancelled":
    case "timed_out":
      return { ended_by: task.stop.by, reason: task.stop.reason, survivors: toJson(task.survivors) }
    default:
      return {}
  }
}
