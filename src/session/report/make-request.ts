import { shorten } from "../../base/shorten.ts"
import { createHash } from "node:crypto"
import { type Patch, toPatch } from "../../task/patch.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { contextUsage, type ContextScope } from "../conversation/context.ts"
import { type Delivery, endedIn, traceOf } from "../results/delivery.ts"
import { quoteTitle } from "../results/quoted-text.ts"
import { toResultsText } from "../results/delivery-text.ts"
import { toShortText } from "../results/result-text.ts"
import type { ReportRequest } from "../conversation/report-request.ts"
import type { JsonObject } from "../../base/json.ts"
import { textOf } from "../../plugin/message.ts"
import type { SessionLog } from "../log/session-log.ts"
import type { Using } from "../conversation/scope.ts"
import type { ReportScope } from "../conversation/report-config.ts"

/** The request for a report about this delivery, without what only a generator reads. */
export function toReportRequest(
  scope: ContextScope & Using<"clock"> & ReportScope,
  conversation: Conversation,
  delivery: Delivery,
  hops: number,
): Omit<ReportRequest, "toolContext"> {
  const { log } = conversation
  const ended = endedIn(delivery)
  const [told] = delivery.groups
  const group = told && delivery.groups.length === 1 && delivery.tasks.length === 0 ? told.group : null
  const members =
    told && group ? [...told.members.map(({ task }) => task), ...told.used] : ended.map(({ task }) => task)
  const patches = members.map(toPatchOf)
  const [first] = ended
  const isSingle = patches.length === 1
  const { limitTokens } = contextUsage(scope, conversation)
  return {
    messageId: `report_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`,
    session: log.id,
    traceId: traceOf(delivery),
    subject: group ? `group_${group.id}` : (first?.task.id ?? ""),
    taskIds: members.map(({ id }) => id),
    groupId: group?.id ?? null,
    isGroupReport: group !== null,
    description: group
      ? `Task group ${quoteTitle(group.name)} (${group.memberCount} tasks)`
      : toDescription(ended.map(({ task }) => task)),
    executionTimeMs: toExecutionTimeMs(members),
    patch: isSingle && patches[0] ? patches[0] : { ...toPatch(null), digest: patches.flatMap(({ digest }) => digest) },
    combinedPatches: patches,
    mergeStrategy: group?.merge ?? "append",
    queuedAt: scope.clock.now(),
    memorySummary: toMemorySummary(log),
    contextVersion: log.position,
    contextHash: createHash("sha256").update(JSON.stringify(log.history)).digest("hex"),
    hopsRemaining: Math.max(0, scope.config.reports.maxHops - hops),
    resultsText: toResultsText(delivery, { limitTokens, hasLabels: true }),
  }
}

function toDescription(tasks: readonly TaskRecord[]): string {
  const [only, ...others] = tasks
  if (!only) return "Background task"
  return others.length === 0 ? quoteTitle(only.title) : `${tasks.length} tasks, each named with what it came to`
}

/** The patch of a task, or the reason why it did not complete. */
function toPatchOf(task: TaskRecord): Patch {
  const patch = "patch" in task ? task.patch : null
  if (patch && task.status === "completed") return patch
  const why = `${task.title}: ${task.status.replace("_", " ")}. ${toShortText(task)}`
  return { ...(patch ?? toPatch(null)), digest: [why] }
}

/** From the first start to the last end. */
function toExecutionTimeMs(tasks: readonly TaskRecord[]): number | null {
  const starts = tasks.flatMap(({ startedAt }) => startedAt ?? [])
  const ends = tasks.flatMap((task) => ("endedAt" in task ? [task.endedAt] : []))
  return starts.length === 0 || ends.length === 0 ? null : Math.max(...ends) - Math.min(...starts)
}

const RECENT_MESSAGES = 6
const LONGEST_TEXT = 400

/** The last messages, shortened by rule: a report gets them instead of the whole conversation. */
function toMemorySummary({ data, history }: Pick<SessionLog, "data" | "history">): JsonObject {
  const { title, description, turns } = data
  const said = history.filter((message) => message.role !== "tool" && textOf(message) !== "")
  const recent = said.slice(-RECENT_MESSAGES).map((message) => {
    return { role: message.role, text: shorten(textOf(message), LONGEST_TEXT) }
  })
  return { title, description, turns, recent }
}
