import { type JsonObject, toJson } from "../../../../base/json.ts"
import type { ListedTask, TaskView } from "../../../../plugin/task-service.ts"
import type { GroupRecord } from "../../../../task/group.ts"
import type { TaskRecord } from "../../../../task/record.ts"
import { toEnding, toLack, toPlainResult, toShortId } from "../task-facts.ts"
import { toLimitFacts } from "../time-limit.ts"
import type { ResultView } from "../../operations/show-results.ts"

/** A task in a list. */
export function toTaskFacts(task: ListedTask | TaskRecord): JsonObject {
  return {
    task_id: toShortId(task.id),
    status: task.status,
    mode: task.kind === "agent" ? "subagent" : "job",
    description: task.title,
    priority: task.priority,
    group_id: task.group === null ? null : toShortId(task.group),
    created_at: new Date(task.createdAt).toISOString(),
    ...("endedAt" in task && { completed_at: new Date(task.endedAt).toISOString() }),
    ...(task.status === "waiting" && { waits_for: task.wait.reason }),
    ...toLack("missing" in task ? task.missing : null),
  }
}

/** How a task stands, with its digest, but without its payload. */
export function toTaskDetails({ task, placeInQueue, missing, lastLine }: TaskView): JsonObject {
  const { progress } = task
  return {
    ...toTaskFacts(task),
    ...toLimitFacts(task),
    ...(placeInQueue !== null && { place_in_queue: placeInQueue }),
    ...toLack(missing),
    ...(progress && !("endedAt" in task) && { progress: toJson(progress) }),
    ...(lastLine !== null && !("endedAt" in task) && { last_line: lastLine }),
    ...("patch" in task && task.patch && { digest: task.patch.digest }),
    ...toEnding(task),
  }
}

/** As `toTaskDetails`, with the whole result of a task that has one. */
export function toTaskResult(view: TaskView): JsonObject {
  const { task } = view
  if (!("patch" in task) || !task.patch) return toTaskDetails(view)
  const { facts, artifacts, nextSteps } = task.patch
  return {
    ...toTaskDetails(view),
    result: toPlainResult(task.patch),
    facts,
    artifacts: toJson(artifacts),
    recommended_next_steps: nextSteps,
  }
}

/** Several tasks in one answer. */
export const IN_ANSWERS: ResultView = { toFacts: toTaskResult, reader: "tasks.get with include_result" }

export function toGroupFacts(group: GroupRecord): JsonObject {
  return {
    group_id: toShortId(group.id),
    name: group.name,
    status: group.state,
    merge_strategy: group.merge,
    report: group.report,
    task_count: group.memberCount,
    ended_count: group.arrivals.length,
    failed_count: group.arrivals.filter(({ status }) => status !== "completed").length,
  }
}
