import { toOneLine } from "../../../../base/one-line.ts"
import type { PlacedTask } from "../../../../plugin/task-family.ts"
import type { ListedTask } from "../../../../plugin/task-service.ts"
import { toShortId } from "../task-facts.ts"
import { toStatus, toTime } from "./task-facts.ts"

const RESUMED = "(resumed)"
const MOST_SHOWN = 100

/** One line for each task, indented below the task that started it. The id of a task with follow-ups is marked, since its conversation holds more. */
export function toListText(tasks: readonly PlacedTask<ListedTask>[]): string {
  if (tasks.length === 0) return "There are no background tasks."
  const left = tasks.length - MOST_SHOWN
  const more = left > 0 ? [`${left} older ones are not shown: ask for a status or a batch.`] : []
  const shown = tasks.slice(0, MOST_SHOWN).map(toLine)
  return ["task_id | status | description | batch | started", ...shown, ...more].join("\n")
}

/** A model that copies an id from the list may copy the mark with it. */
export function withoutMark(id: string): string {
  return id.trim().endsWith(RESUMED) ? id.trim().slice(0, -RESUMED.length).trim() : id
}

function toLine({ task, depth }: PlacedTask<ListedTask>): string {
  const id = `${"  ".repeat(depth)}${toShortId(task.id)}`
  return [
    task.resumeCount > 0 ? `${id} ${RESUMED}` : id,
    `${toStatus(task)}${toDetail(task)}`,
    JSON.stringify(toOneLine(task.title)),
    task.batch ?? "-",
    toTime(task.startedAt) ?? "not yet",
  ].join(" | ")
}

function toDetail(task: ListedTask): string {
  if (task.missing) return `, in the queue: ${toOneLine(task.missing.text)}`
  if (task.status === "queued") return ", in the queue"
  if (task.status === "stopping") return ", being stopped"
  return task.status === "waiting" ? `, waits for ${task.wait.reason}` : ""
}
