import type { TaskRecord } from "../../task/record.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { type Delivery, endedIn } from "../results/delivery.ts"
import type { AgentScope } from "../conversation/scope.ts"
import { showNotification } from "./notification.ts"
import type { ReportMark } from "../turn/report-mark.ts"

/** Before the first word of it. */
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

/** Once its text is durable. */
export function publishReport({ emitter }: Conversation, mark: ReportMark, text: string): void {
  const { messageId, taskIds, groupId } = mark
  const report = { messageId, text, channel: "answer", done: true, proactive: true, taskIds, groupId } as const
  emitter.emit({ type: "report.published", report })
}

/** Where no report could be made. */
export function fallBack(
  { reports }: AgentScope,
  conversation: Conversation,
  tasks: readonly TaskRecord[],
  why: string | null = null,
): void {
  if (reports.fallbackNotification) showNotification(conversation, tasks, why)
}
