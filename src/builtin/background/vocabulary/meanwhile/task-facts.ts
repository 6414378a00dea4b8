import { type JsonObject, toJson } from "../../../../base/json.ts"
import type { ListedTask, TaskView } from "../../../../plugin/task-service.ts"
import type { GroupRecord } from "../../../../task/group.ts"
import type { Patch } from "../../../../task/patch.ts"
import type { TaskRecord, TaskSummary } from "../../../../task/record.ts"
import { toEnding, toLack, toOutlived, toPlainResult, toReported, toShortId } from "../task-facts.ts"
import { toLimitFacts } from "../time-limit.ts"
import type { ResultView } from "../../operations/show-results.ts"

/** A task in a list, in the words of this vocabulary. */
export function toTaskFacts(task: ListedTask | TaskRecord): JsonObject {
  return {
    task_id: toShortId(task.id),
    title: task.title,
    tool: task.tool,
    status: task.status,
    ...(task.status === "waiting" && { waits_for: task.wait.reason }),
    ...toLack("missing" in task ? task.missing : null),
    ...(task.group !== null && { group: toShortId(task.group) }),
    ...(task.resumeCount > 0 && { resumed: task.resumeCount }),
    started_at: task.startedAt === null ? null : new Date(task.startedAt).toISOString(),
    ...("endedAt" in task && { ran_seconds: toSeconds(task.ranMs) }),
    ...toProgress(task),
  }
}

/** All that is known of a task, with its result if it has ended. */
export function toTaskDetails(view: TaskView): JsonObject {
  const { task, placeInQueue, missing, estimate, outputBytes, lastLine } = view
  return {
    ...toTaskFacts(task),
    ...toLimitFacts(task),
    ...(placeInQueue !== null && { place_in_queue: placeInQueue }),
    ...toLack(missing),
    ...(estimate && { usually_takes_seconds: toSeconds(estimate.medianMs) }),
    ...(!("endedAt" in task) && lastLine !== null && { last_line: lastLine }),
    output_bytes: outputBytes,
    ...toOutlived(view),
    ...toOutcome(task),
  }
}

/** Several tasks in one answer. */
export const IN_ANSWERS: ResultView = { toFacts: toTaskDetails, reader: "get_task" }

/** A task's result; empty while the task is live. */
function toOutcome(task: TaskRecord): JsonObject {
  const isStripped = task.status === "completed" && task.strippedAt !== null
  return {
    ...toEnding(task),
    ...("patch" in task && task.patch && toPatchFacts(task.patch)),
    ...(isStripped && { note: "Its result was used, and removed since." }),
  }
}

export function toGroupFacts(group: GroupRecord): JsonObject {
  return {
    group: toShortId(group.id),
    name: group.name,
    state: group.state,
    members: group.memberCount,
    ended: group.arrivals.length,
  }
}

function toPatchFacts(patch: Patch): JsonObject {
  const { facts, artifacts, nextSteps } = patch
  return {
    result: toPlainResult(patch),
    ...(Object.keys(facts).length > 0 && { facts }),
    ...(artifacts.length > 0 && { artifacts: toJson(artifacts) }),
    ...(nextSteps.length > 0 && { next_steps: nextSteps }),
  }
}

function toProgress({ progress }: TaskSummary | TaskRecord): JsonObject {
  if (!progress) return {}
  const { done, total, phase, activity } = progress
  const facts = {
    ...(done !== null && { done }),
    ...(total !== null && { total }),
    ...(phase !== null && { phase }),
    ...(activity && {
      tool_calls: activity.toolCalls,
      last_tools: activity.lastTools,
      tokens: activity.tokens,
      last_activity_at: new Date(activity.at).toISOString(),
      ...toReported(activity.reported),
    }),
  }
  return Object.keys(facts).length > 0 ? { progress: facts } : {}
}

export function toSeconds(durationMs: number): number {
  return Math.round(durationMs / 100) / 10
}
