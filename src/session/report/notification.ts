import { toOneLine } from "../../base/one-line.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { toQuestionText } from "../results/delivery-text.ts"
import { toShortText } from "../results/result-text.ts"

const LONGEST_LINE = 300
const MOST_LINES = 20

/** For the person alone: what these tasks came to, or need. */
export function showNotification({ emitter }: Conversation, tasks: readonly TaskRecord[], why: string | null): void {
  if (tasks.length === 0) return
  const lines = tasks.slice(0, MOST_LINES).map(toLine)
  const more = tasks.length > MOST_LINES ? [`… and ${tasks.length - MOST_LINES} more tasks.`] : []
  const taskIds = tasks.map(({ id }) => id)
  emitter.emit({
    type: "notification.shown",
    text: [...lines, ...more].join("\n"),
    taskIds,
    ...(why !== null && { why }),
  })
}

function toLine(task: TaskRecord): string {
  const isWaiting = task.status === "waiting"
  const said = isWaiting ? toQuestionText(task) : toShortText(task)
  const status = isWaiting ? "waits for you" : task.status.replace("_", " ")
  const line = toOneLine(
    `Task ${task.id.slice(0, 8)} (${task.title}): ${said === "" ? `${status}.` : `${status}. ${said}`}`,
  )
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE - 1)}…` : line
}
