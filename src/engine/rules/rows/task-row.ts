import type { GroupId, MessageId, SessionId, TaskId, WorkerId, WorkspaceId } from "../../../task/id.ts"
import type { RunStatus } from "../../../task/lifecycle.ts"
import type { Patch } from "../../../task/patch.ts"
import type { Progress } from "../../../task/progress.ts"
import type { StoredTask } from "../stored-task.ts"
import type {
  Lifetime,
  NotifyMode,
  RunState,
  TaskCourse,
  TaskDetails,
  TaskKind,
  TaskSummary,
} from "../../../task/record.ts"
import type { JsonObject } from "../../../base/json.ts"

export interface SummaryRow {
  readonly number: number
  readonly id: TaskId
  readonly status: RunStatus
  readonly run: number
  readonly fence: number
  readonly last_sequence: number
  readonly worker: WorkerId | null
  readonly available_at: number | null
  readonly queued_at: number
  readonly started_at: number | null
  readonly ended_at: number | null
  readonly ran_ms: number
  readonly stripped_at: number | null
  readonly priority: number
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly kind: TaskKind
  readonly plugin: string
  readonly tool: string
  readonly model: string | null
  readonly folder: string | null
  readonly input_held_by: WorkerId | null
  readonly parent_task: TaskId | null
  readonly parent_message: MessageId | null
  readonly batch: string | null
  readonly group_id: GroupId | null
  readonly lifetime: Lifetime
  readonly notify: NotifyMode
  readonly depth: number
  readonly trace_id: string | null
  readonly idempotency_key: string | null
  readonly asked_by_task: TaskId | null
  readonly asked_by_run: number | null
  readonly asked_by_key: string | null
  readonly timeout_ms: number | null
  readonly limit_tokens: number | null
  readonly limit_cost_micros: number | null
  readonly limit_output_bytes: number | null
  readonly created_at: number
  readonly tokens: number
  readonly cost_micros: number
  readonly resume_count: number
  readonly retrieved_at: number | null
  readonly title: string
  readonly progress: string | null
  readonly state: string | null
}

export type TaskRow = SummaryRow & {
  readonly patch: string | null
  /** Both null when they are large and lie in a row of their own. */
  readonly metadata: string | null
  readonly input: string | null
}

/** The columns of SummaryRow: everything but what may be large. */
export const SUMMARY_COLUMNS = `number, id, status, run, fence, last_sequence, worker, available_at, queued_at, started_at,
  ended_at, ran_ms, stripped_at, priority, workspace, session, kind, plugin, tool, model, folder, input_held_by, parent_task,
  parent_message, batch, group_id, lifetime, notify, depth, trace_id, idempotency_key, asked_by_task, asked_by_run,
  asked_by_key, timeout_ms, limit_tokens, limit_cost_micros, limit_output_bytes, created_at, tokens, cost_micros,
  resume_count, retrieved_at, title, progress, state`

export function toStoredTask(
  row: TaskRow,
  given: Pick<TaskDetails, "input" | "metadata">,
  hasLargeInput: boolean,
): StoredTask {
  const details = { ...toDetails(row), ...given }
  return { number: row.number, details, course: toCourse(row), state: toState(row), hasLargeInput }
}

export function toTaskSummary(row: SummaryRow): TaskSummary {
  return { ...toDetails(row), ...toCourse(row), ...toStateWithoutPatch(row) }
}

type StateWithoutPatch = TaskSummary extends infer Summary
  ? Summary extends TaskSummary
    ? Omit<Summary, keyof TaskDetails | keyof TaskCourse>
    : never
  : never

function toDetails(row: SummaryRow): Omit<TaskDetails, "input" | "metadata"> {
  return {
    id: row.id,
    workspace: row.workspace,
    session: row.session,
    parentTask: row.parent_task,
    parentMessage: row.parent_message,
    batch: row.batch,
    group: row.group_id,
    kind: row.kind,
    plugin: row.plugin,
    tool: row.tool,
    model: row.model,
    folder: row.folder,
    title: row.title,
    inputHeldBy: row.input_held_by,
    lifetime: row.lifetime,
    priority: row.priority,
    notify: row.notify,
    limits: {
      timeoutMs: row.timeout_ms,
      tokens: row.limit_tokens,
      costMicros: row.limit_cost_micros,
      outputBytes: row.limit_output_bytes,
    },
    idempotencyKey: row.idempotency_key,
    askedBy:
      row.asked_by_task === null
        ? null
        : { taskId: row.asked_by_task, run: row.asked_by_run ?? 0, key: row.asked_by_key ?? "" },
    depth: row.depth,
    traceId: row.trace_id,
  }
}

function toCourse(row: SummaryRow): TaskCourse {
  return {
    run: row.run,
    fence: row.fence,
    queuedAt: row.queued_at,
    startedAt: row.started_at,
    ranMs: row.ran_ms,
    createdAt: row.created_at,
    lastSequence: row.last_sequence,
    progress: row.progress === null ? null : (JSON.parse(row.progress) as Progress),
    usage: { tokens: row.tokens, costMicros: row.cost_micros },
    resumeCount: row.resume_count,
    retrievedAt: row.retrieved_at,
    strippedAt: row.stripped_at,
  }
}

/** Which parts of a state have columns of their own; the rest is one JSON value. */
function toStateWithoutPatch(row: SummaryRow): StateWithoutPatch {
  const rest = row.state === null ? {} : (JSON.parse(row.state) as object)
  const columns = {
    status: row.status,
    ...(row.worker === null ? {} : { worker: row.worker }),
    ...(row.available_at === null ? {} : { availableAt: row.available_at }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
  }
  return { ...columns, ...rest } as StateWithoutPatch
}

function toState(row: TaskRow): RunState {
  const state = toStateWithoutPatch(row)
  if (row.status === "queued" || row.status === "running" || row.status === "waiting") return state as RunState
  if (row.status === "stopping" || row.status === "interrupted") return state as RunState
  return { ...state, patch: row.patch === null ? null : (JSON.parse(row.patch) as Patch) } as RunState
}

/** Input and metadata as they are written. */
export interface InputText {
  readonly input: string
  readonly metadata: string
}

export function toInputText(details: TaskDetails): InputText {
  return { input: JSON.stringify(details.input), metadata: JSON.stringify(details.metadata) }
}

export function parseInput(text: InputText): Pick<TaskDetails, "input" | "metadata"> {
  const metadata = text.metadata === "{}" ? {} : (JSON.parse(text.metadata) as JsonObject)
  return { input: JSON.parse(text.input) as TaskDetails["input"], metadata }
}

/** The values of a state's columns. */
export interface StateColumns {
  readonly worker: string | null
  readonly availableAt: number | null
  readonly endedAt: number | null
  readonly rest: string | null
  readonly patch: string | null
}

const NOTHING: StateColumns = { worker: null, availableAt: null, endedAt: null, rest: null, patch: null }

export function toStateColumns(state: RunState): StateColumns {
  switch (state.status) {
    case "queued":
      return { ...NOTHING, availableAt: state.availableAt }
    case "running":
      return { ...NOTHING, worker: state.worker }
    case "waiting":
      return { ...NOTHING, rest: JSON.stringify({ wait: state.wait }) }
    case "stopping":
      return { ...NOTHING, worker: state.worker, rest: JSON.stringify({ stop: state.stop }) }
    case "completed":
      return { ...NOTHING, endedAt: state.endedAt, patch: JSON.stringify(state.patch) }
    case "failed":
      return { ...NOTHING, ...toEnd(state, { failure: state.failure }) }
    case "cancelled":
    case "timed_out":
      return { ...NOTHING, ...toEnd(state, { stop: state.stop, survivors: state.survivors }) }
    case "interrupted":
      return { ...NOTHING, endedAt: state.endedAt, rest: JSON.stringify({ by: state.by, failure: state.failure }) }
  }
}

function toEnd(state: { endedAt: number; patch: Patch | null }, rest: object) {
  const patch = state.patch === null ? null : JSON.stringify(state.patch)
  return { endedAt: state.endedAt, rest: JSON.stringify(rest), patch }
}
