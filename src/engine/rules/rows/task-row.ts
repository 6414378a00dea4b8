import type { JsonObject } from "../../../base/json.ts"
import type { GroupId, MessageId, SessionId, TaskId, WorkerId, WorkspaceId } from "../../../task/id.ts"
import type { Progress } from "../../../task/progress.ts"
import {
  type Lifetime,
  type NotifyMode,
  PLAIN_DETAILS,
  type TaskCourse,
  type TaskDetails,
  type TaskKind,
  type TaskRecord,
  type TaskSummary,
} from "../../../task/record.ts"
import type { NewTask, StoredTask } from "../tables.ts"
import { type StateColumns, type StateRow, toState, toStateWithoutPatch } from "./state-columns.ts"

/** The columns of a task as they are read: everything but what may be large. */
export interface SummaryRow extends StateRow {
  readonly number: number
  readonly id: TaskId
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly parent_task: TaskId | null
  readonly parent_message: MessageId | null
  readonly batch: string | null
  readonly group_id: GroupId | null
  readonly kind: TaskKind
  readonly plugin: string
  readonly tool: string
  readonly model: string | null
  readonly folder: string | null
  readonly title: string
  readonly input_held_by: WorkerId | null
  readonly lifetime: Lifetime
  readonly priority: number
  readonly notify: NotifyMode
  readonly timeout_ms: number | null
  readonly limit_tokens: number | null
  readonly limit_cost_micros: number | null
  readonly limit_output_bytes: number | null
  readonly idempotency_key: string | null
  readonly asked_by_task: TaskId | null
  readonly asked_by_run: number | null
  readonly asked_by_key: string | null
  readonly depth: number
  readonly trace_id: string | null
  readonly run: number
  readonly fence: number
  readonly queued_at: number
  readonly started_at: number | null
  readonly ran_ms: number
  readonly created_at: number
  readonly last_sequence: number
  readonly progress: string | null
  readonly tokens: number
  readonly cost_micros: number
  readonly resume_count: number
  readonly retrieved_at: number | null
  readonly stripped_at: number | null
  readonly has_children: number
}

export interface TaskRow extends SummaryRow {
  readonly patch: string | null
  /** Both null when they are large and lie in a row of their own. */
  readonly metadata: string | null
  readonly input: string | null
}

export function toStoredTask(
  row: TaskRow,
  given: Pick<TaskDetails, "input" | "metadata">,
  hasLargeInput: boolean,
): StoredTask {
  const details = { ...toDetails(row), ...given }
  return { number: row.number, details, course: toCourse(row), state: toState(row), hasLargeInput }
}

/** Details and facts that records of earlier versions lack. */
const EARLIEST = { ...PLAIN_DETAILS, hasChildren: false }

/** Reads an earlier run, which is stored as JSON and may be older than some of the details. */
export function parseEarlierRun(record: string): TaskRecord {
  return { ...EARLIEST, ...(JSON.parse(record) as TaskRecord) }
}

export function toTaskSummary(row: SummaryRow): TaskSummary {
  return { ...toDetails(row), ...toCourse(row), ...toStateWithoutPatch(row) }
}

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
    hasChildren: row.has_children === 1,
    strippedAt: row.stripped_at,
  }
}

/** Input and metadata as stored text. */
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

/** A task with the values that its columns are made of. */
export interface WrittenTask {
  readonly task: NewTask
  readonly state: StateColumns
  readonly hasUnusedResult: boolean
  readonly usedAt: number | null
}

/** Columns by name, and what is stored in each. */
export type TaskColumns = Readonly<Record<string, (written: WrittenTask) => string | number | null>>

/** The columns that change whenever a run notes a fact. */
export const FACT_COLUMNS = {
  last_sequence: ({ task }) => task.course.lastSequence,
  progress: ({ task }) => task.course.progress && JSON.stringify(task.course.progress),
  tokens: ({ task }) => task.course.usage.tokens,
  cost_micros: ({ task }) => task.course.usage.costMicros,
  resume_count: ({ task }) => task.course.resumeCount,
  retrieved_at: ({ task }) => task.course.retrievedAt,
  stripped_at: ({ task }) => task.course.strippedAt,
  has_children: ({ task }) => (task.course.hasChildren ? 1 : 0),
  patch: ({ state }) => state.patch,
} satisfies TaskColumns

/** The columns that change with the status, and the fact columns, which are written with them. */
export const RUN_COLUMNS = {
  status: ({ task }) => task.state.status,
  run: ({ task }) => task.course.run,
  fence: ({ task }) => task.course.fence,
  worker: ({ state }) => state.worker,
  available_at: ({ state }) => state.availableAt,
  queued_at: ({ task }) => task.course.queuedAt,
  started_at: ({ task }) => task.course.startedAt,
  ended_at: ({ state }) => state.endedAt,
  ran_ms: ({ task }) => task.course.ranMs,
  has_unused_result: ({ hasUnusedResult }) => (hasUnusedResult ? 1 : 0),
  used_at: ({ usedAt }) => usedAt,
  state: ({ state }) => state.rest,
  ...FACT_COLUMNS,
} satisfies TaskColumns

/** Details that an operation may change. */
export const CHANGEABLE_COLUMNS = {
  priority: ({ task }) => task.details.priority,
  session: ({ task }) => task.details.session,
  parent_task: ({ task }) => task.details.parentTask,
  group_id: ({ task }) => task.details.group,
  input_held_by: ({ task }) => task.details.inputHeldBy,
  title: ({ task }) => task.details.title,
  folder: ({ task }) => task.details.folder,
  timeout_ms: ({ task }) => task.details.limits.timeoutMs,
} satisfies TaskColumns

/**
 * Columns that stay as they were when the task was made. Both engines insert and select the columns that these tables
 * name. A new one needs a statement in the `schema/schema-changes.ts` of each.
 */
export const FIXED_COLUMNS = {
  id: ({ task }) => task.details.id,
  workspace: ({ task }) => task.details.workspace,
  kind: ({ task }) => task.details.kind,
  plugin: ({ task }) => task.details.plugin,
  tool: ({ task }) => task.details.tool,
  model: ({ task }) => task.details.model,
  parent_message: ({ task }) => task.details.parentMessage,
  batch: ({ task }) => task.details.batch,
  lifetime: ({ task }) => task.details.lifetime,
  notify: ({ task }) => task.details.notify,
  depth: ({ task }) => task.details.depth,
  trace_id: ({ task }) => task.details.traceId,
  idempotency_key: ({ task }) => task.details.idempotencyKey,
  asked_by_task: ({ task }) => task.details.askedBy && task.details.askedBy.taskId,
  asked_by_run: ({ task }) => task.details.askedBy && task.details.askedBy.run,
  asked_by_key: ({ task }) => task.details.askedBy && task.details.askedBy.key,
  limit_tokens: ({ task }) => task.details.limits.tokens,
  limit_cost_micros: ({ task }) => task.details.limits.costMicros,
  limit_output_bytes: ({ task }) => task.details.limits.outputBytes,
  created_at: ({ task }) => task.course.createdAt,
} satisfies TaskColumns

/**
 * Columns with text for people, in which an engine may replace characters that it cannot store. In ids and names it
 * refuses such characters.
 */
export const COLUMNS_OF_TEXT: ReadonlySet<string> = new Set(["title"])

/** The compiler sees here that every column of SummaryRow is written. */
const WRITTEN_COLUMNS = {
  ...FIXED_COLUMNS,
  ...CHANGEABLE_COLUMNS,
  ...RUN_COLUMNS,
} satisfies Record<Exclude<keyof SummaryRow, "number">, unknown>
const NOT_IN_SUMMARY: ReadonlySet<string> = new Set(["patch", "has_unused_result", "used_at"])

/** The columns of SummaryRow. */
export const SUMMARY_COLUMNS = ["number", ...Object.keys(WRITTEN_COLUMNS)]
  .filter((column) => !NOT_IN_SUMMARY.has(column))
  .join(", ")

const MAY_NEED_SOMETHING = "(ended_at IS NULL OR kind = 'turn' OR has_unused_result = 1)"
const LEADS_DOWN = "((ended_at IS NULL OR kind = 'turn') AND lifetime <> 'forever')"

/** Selects the numbers of the tasks that `TaskTable.below` names, from those of the first level on. */
export function toBelow(isOfFirstLevel: string): string {
  return `WITH RECURSIVE below (number, id, leads_down) AS (
      SELECT number, id, ${LEADS_DOWN} FROM tasks WHERE ${isOfFirstLevel} AND ${MAY_NEED_SOMETHING}
      UNION SELECT next.number, next.id, next.leads_down FROM below
        JOIN (SELECT number, id, parent_task, ${LEADS_DOWN} AS leads_down FROM tasks
          WHERE parent_task IS NOT NULL AND ${MAY_NEED_SOMETHING}) AS next ON next.parent_task = below.id
        WHERE below.leads_down
    ) SELECT number FROM below`
}
