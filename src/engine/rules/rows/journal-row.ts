import type { JsonValue } from "../../../base/json.ts"
import type { TaskEvent, TaskEventBody } from "../../../task/event.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../../task/id.ts"
import type { Notice, NoticeKind, NoticeState } from "../../../task/notice.ts"
import type { NotifyMode } from "../../../task/record.ts"
import type { OnCrash, Step } from "../../../task/step.ts"
import type { StoredNotice } from "../tables.ts"

export interface NoticeRow {
  readonly task: number
  readonly run: number
  readonly kind: NoticeKind
  readonly task_id: TaskId
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly notify: NotifyMode
  readonly at: number
  readonly state: NoticeState
  readonly settled_at: number | null
  readonly claimed_by_task: TaskId | null
  readonly claimed_by_run: number | null
  readonly claimed_by_key: string | null
  /** Read from the task. */
  readonly trace_id: string | null
}

/** A notice is removed with its task, so a field that never changes is read from the task's row. */
export const SELECT_NOTICES =
  "SELECT notices.*, (SELECT trace_id FROM tasks WHERE number = notices.task) AS trace_id FROM notices"

export function toNotice(row: NoticeRow): Notice {
  const { run, kind, workspace, session, notify, at, state } = row
  const common = { taskId: row.task_id, run, kind, workspace, session, notify, at, traceId: row.trace_id }
  if (state === "pending") return { ...common, state }
  if (state !== "claimed") return { ...common, state, settledAt: row.settled_at ?? at }
  const taskId = row.claimed_by_task ?? row.task_id
  return { ...common, state, claimedBy: { taskId, run: row.claimed_by_run ?? 0, key: row.claimed_by_key ?? "" } }
}

export function toStoredNotice(row: NoticeRow): StoredNotice {
  return { ...toNotice(row), task: row.task }
}

export interface EventRow {
  readonly sequence: number
  readonly run: number
  readonly at: number
  readonly type: string
  readonly body: string | null
}

/** The event without its type, which has a column of its own. Null if nothing else is left. */
export function toEventText(body: TaskEventBody): string | null {
  if (body.type === "task.queued" || body.type === "task.retrieved") return null
  const { type: _, ...rest } = body
  return JSON.stringify(rest)
}

export function toEvent(taskId: TaskId, { sequence, run, at, type, body }: EventRow): TaskEvent {
  const rest = body === null ? {} : (JSON.parse(body) as object)
  return { taskId, sequence, run, at, body: { type, ...rest } as TaskEventBody }
}

export interface StepRow {
  readonly key: string
  readonly on_crash: OnCrash
  readonly started_at: number
  readonly finished_at: number | null
  readonly completion: number | null
  readonly result: string | null
}

export const STEP_COLUMNS = "key, on_crash, started_at, finished_at, completion, result"

export function toStep(taskId: TaskId, run: number, row: StepRow): Step {
  const start = { taskId, run, key: row.key, onCrash: row.on_crash, startedAt: row.started_at }
  if (row.completion === null || row.finished_at === null) return { ...start, state: "started" }
  const result = JSON.parse(row.result ?? "null") as JsonValue
  return { ...start, state: "finished", completion: row.completion, result, finishedAt: row.finished_at }
}
