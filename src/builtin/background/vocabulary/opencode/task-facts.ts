import { type JsonObject, toJson } from "../../../../base/json.ts"
import type { TaskView } from "../../../../plugin/task-service.ts"
import { isTerminal } from "../../../../task/lifecycle.ts"
import type { TaskRecord, TaskSummary } from "../../../../task/record.ts"
import { toStatusName } from "../../../../task/status-names.ts"
import { toLack, toPlainResult, toReported, toShortId } from "../task-facts.ts"
import { toLimitFacts } from "../time-limit.ts"
import type { ResultView } from "../../operations/show-results.ts"

/** Counts follow-ups and not runs, since a retry is another run, too. */
export function toStatus({ status, resumeCount }: TaskSummary | TaskRecord): string {
  return toStatusName("opencode", status, resumeCount + 1)
}

/** A task in the words of this vocabulary, with its result if it has ended. */
export function toTaskFacts(view: TaskView): JsonObject {
  const { task } = view
  return {
    task_id: toShortId(task.id),
    status: toStatus(task),
    description: task.title,
    ...toAgent(task),
    ...(task.batch !== null && { batch_id: task.batch }),
    resume_count: task.resumeCount,
    started_at: toTime(task.startedAt),
    ...(isTerminal(task.status) ? toEnd(task) : toProgress(view)),
  }
}

/** Several tasks in one answer. */
export const IN_ANSWERS: ResultView = { toFacts: toTaskFacts, reader: "background_output with its task_id" }

export function toTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

function toAgent({ kind, tool, input }: TaskRecord): JsonObject {
  if (kind !== "agent") return { tool }
  const isNamed = typeof input === "object" && input !== null && "profile" in input
  return { agent: isNamed ? (input["profile"] ?? null) : null }
}

function toProgress({ task, placeInQueue, missing, outputBytes, lastLine }: TaskView): JsonObject {
  const { progress, startedAt, queuedAt, kind } = task
  const { activity, phase = null } = progress ?? {}
  return {
    ...toLimitFacts(task),
    progress: {
      ...((kind === "agent" || activity) && {
        tool_calls: activity?.toolCalls ?? 0,
        recent_tools: activity?.lastTools ?? [],
        ...toReported(activity?.reported),
      }),
      ...(phase !== null && { phase }),
      ...(lastLine !== null && { last_line: lastLine }),
      ...(outputBytes > 0 && { output_bytes: outputBytes }),
      last_update: toTime(activity?.at ?? startedAt ?? queuedAt),
    },
    ...(placeInQueue !== null && { place_in_queue: placeInQueue }),
    ...toLack(missing),
    ...(task.status === "waiting" && { waits_for: task.wait.reason }),
  }
}

function toEnd(task: TaskRecord): JsonObject {
  return {
    ...("endedAt" in task && { completed_at: toTime(task.endedAt) }),
    retrieved_at: toTime(task.retrievedAt),
    ...toOutcome(task),
    ...("patch" in task && task.patch && { result: toPlainResult(task.patch) }),
  }
}

function toOutcome(task: TaskRecord): JsonObject {
  switch (task.status) {
    case "failed":
    case "interrupted":
      return { error: { code: task.failure.code, message: task.failure.message } }
    case "timed_out":
      return { error: { code: "timed_out", message: task.stop.reason }, survivors: toJson(task.survivors) }
    case "cancelled":
      return { cancelled_by: task.stop.by, reason: task.stop.reason, survivors: toJson(task.survivors) }
    case "completed":
      return task.strippedAt === null ? {} : { note: "Its result was used, and removed since." }
    default:
      return {}
  }
}
