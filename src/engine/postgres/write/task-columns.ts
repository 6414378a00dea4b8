import { toInputText } from "../../rules/rows/input-text.ts"
import { toStateColumns } from "../../rules/rows/state-columns.ts"
import { toStoredKey, toStoredText } from "../storable.ts"
import type { TaskEntry } from "../working-set/task-rows.ts"

/** The columns that move while a task lives. */
export function toMovingColumns({ task, hasUnusedResult, usedAt }: TaskEntry) {
  const { number, details, course, state } = task
  const { worker, availableAt, endedAt, rest, patch } = toStateColumns(state)
  return {
    number,
    status: state.status,
    run: course.run,
    fence: course.fence,
    last_sequence: course.lastSequence,
    worker: toStoredKey(worker),
    available_at: availableAt,
    queued_at: course.queuedAt,
    started_at: course.startedAt,
    ended_at: endedAt,
    ran_ms: course.ranMs,
    has_unused_result: hasUnusedResult ? 1 : 0,
    used_at: usedAt,
    stripped_at: course.strippedAt,
    title: toStoredText(details.title),
    folder: toStoredKey(details.folder),
    priority: details.priority,
    session: toStoredKey(details.session),
    group_id: toStoredKey(details.group),
    input_held_by: toStoredKey(details.inputHeldBy),
    tokens: course.usage.tokens,
    cost_micros: course.usage.costMicros,
    resume_count: course.resumeCount,
    retrieved_at: course.retrievedAt,
    progress: course.progress && JSON.stringify(course.progress),
    state: rest,
    patch,
  }
}

export function toInputColumns({ task }: TaskEntry) {
  return { number: task.number, ...toInputText(task.details) }
}

/** All of a new task. */
export function toTaskColumns(entry: TaskEntry) {
  const { details, course } = entry.task
  const { limits, askedBy } = details
  return {
    ...toMovingColumns(entry),
    ...toInputColumns(entry),
    id: toStoredKey(details.id),
    workspace: toStoredKey(details.workspace),
    kind: details.kind,
    plugin: toStoredKey(details.plugin),
    tool: toStoredKey(details.tool),
    model: toStoredKey(details.model),
    parent_task: toStoredKey(details.parentTask),
    parent_message: toStoredKey(details.parentMessage),
    batch: toStoredKey(details.batch),
    lifetime: details.lifetime,
    notify: details.notify,
    depth: details.depth,
    trace_id: toStoredKey(details.traceId),
    idempotency_key: toStoredKey(details.idempotencyKey),
    asked_by_task: askedBy && toStoredKey(askedBy.taskId),
    asked_by_run: askedBy && askedBy.run,
    asked_by_key: askedBy && toStoredKey(askedBy.key),
    timeout_ms: limits.timeoutMs,
    limit_tokens: limits.tokens,
    limit_cost_micros: limits.costMicros,
    limit_output_bytes: limits.outputBytes,
    created_at: course.createdAt,
  }
}
