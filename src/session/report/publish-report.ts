import { shorten } from "../../base/shorten.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { type Delivery, endedIn } from "../results/delivery.ts"
import type { ReportMark } from "../turn/report-mark.ts"
import { toOneLine } from "../../base/one-line.ts"
import { toQuestionText } from "../results/delivery-text.ts"
import { toShortText } from "../results/result-text.ts"
import type { ReportScope } from "../conversation/report-config.ts"

/** Called before the first word of a report. */
export function announceReport({ emitter }: Conversation, delivery: Delivery): void {
  if (!emitter.hears("report.started")) return
  const [told] = delivery.groups
  const isOfGroup = told !== undefined && delivery.groups.length === 1 && delivery.tasks.length === 0
  emitter.emit({
    type: "report.started",
    tasks: endedIn(delivery).map(({ task: { id, title } }) => ({ id, title })),
    group: isOfGroup ? { id: told.group.id, name: told.group.name } : null,
  })
}

/** Called once the text of the report is durable. */
export function publishReport({ emitter }: Conversation, mark: ReportMark, text: string): void {
  const { messageId, taskIds, groupId } = mark
  const report = { messageId, text, channel: "answer", done: true, proactive: true, taskIds, groupId } as const
  emitter.emit({ type: "report.published", report })
}

const LONGEST_LINE = 300
const MOST_LINES = 20

/** Notifies the person, where no report could be made, of what these tasks came to or need. No model reads it. */
export function fallBack(
  { config }: ReportScope,
  { emitter }: Conversation,
  told: readonly { readonly task: TaskRecord }[],
  why: string | null = null,
): void {
  if (!config.reports.fallbackNotification || told.length === 0) return
  const lines = told.slice(0, MOST_LINES).map(({ task }) => toLine(task))
  const more = told.length > MOST_LINES ? [`… and ${told.length - MOST_LINES} more tasks.`] : []
  const taskIds = told.map(({ task }) => task.id)
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
  return shorten(line, LONGEST_LINE)
}
