import { toEventText } from "../../../rules/rows/journal-row.ts"
import type { TaskEntry } from "../working-set/task-rows.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import { type Bulk, columnsOf, type Column, type Value } from "./bulk.ts"
import { type StateColumns, toStateColumns } from "../../../rules/rows/task-row.ts"
import { toStoredJson, toStoredKey, toStoredText } from "../../schema/storable.ts"

/** Tasks that go: before the others, which may have what was theirs. */
export function removeTasks(bulk: Bulk, { tasks, events }: WorkingSet): void {
  const gone = tasks.changes().flatMap(({ before, after }) => {
    return before && before.task.number !== after?.task.number ? [before.task.number] : []
  })
  bulk.run(gone.length, "DELETE FROM tasks WHERE number = ANY($1::bigint[])", [gone])
  const lost = events.removals().filter(({ task }) => !tasks.isNew(task))
  bulk.run(
    lost.length,
    `DELETE FROM events USING unnest($1::bigint[], $2::bigint[]) AS lost (task, before)
     WHERE events.task = lost.task AND sequence < lost.before`,
    [lost.map(({ task }) => task), lost.map(({ before }) => before)],
  )
}

export function writeTasks(bulk: Bulk, { tasks, events }: WorkingSet): void {
  const inserted: TaskEntry[] = []
  const moved: TaskEntry[] = []
  const movedFrom: TaskEntry[] = []
  const withInput: TaskEntry[] = []
  for (const { before, after } of tasks.changes()) {
    if (!after) continue
    if (before?.task.number !== after.task.number) {
      inserted.push(after)
      continue
    }
    moved.push(after)
    movedFrom.push(before)
    const was = before.task.details
    const { input, metadata } = after.task.details
    if (was.input !== input || was.metadata !== metadata) withInput.push(after)
  }
  bulk.insert("tasks", toTaskColumns(inserted))
  bulk.update("tasks", toChangedColumns(movedFrom, moved), KEY)
  bulk.update("tasks", toInputColumns(withInput), KEY)
  bulk.insert(
    "events",
    columnsOf(
      events.appended().map(({ task, sequence, run, at, body }) => ({
        task,
        sequence,
        run,
        at,
        type: body.type,
        body: toEventText(body),
      })),
    ),
  )
}

const KEY = ["number"]

/** A task whose state has been taken apart. */
interface Source extends TaskEntry {
  readonly state: StateColumns
}

/** The columns of a task, by name. */
type Reading = Readonly<Record<string, (source: Source) => Value>>

const NUMBER: Reading = { number: ({ task }) => task.number }

/** The columns that move while a task lives. */
const MOVING: Reading = {
  status: ({ task }) => task.state.status,
  run: ({ task }) => task.course.run,
  fence: ({ task }) => task.course.fence,
  last_sequence: ({ task }) => task.course.lastSequence,
  worker: ({ state }) => toStoredKey(state.worker, "worker"),
  available_at: ({ state }) => state.availableAt,
  queued_at: ({ task }) => task.course.queuedAt,
  started_at: ({ task }) => task.course.startedAt,
  ended_at: ({ state }) => state.endedAt,
  ran_ms: ({ task }) => task.course.ranMs,
  has_unused_result: ({ hasUnusedResult }) => (hasUnusedResult ? 1 : 0),
  used_at: ({ usedAt }) => usedAt,
  stripped_at: ({ task }) => task.course.strippedAt,
  title: ({ task }) => toStoredText(task.details.title),
  folder: ({ task }) => toStoredKey(task.details.folder, "folder"),
  priority: ({ task }) => task.details.priority,
  session: ({ task }) => toStoredKey(task.details.session, "session"),
  group_id: ({ task }) => toStoredKey(task.details.group, "group"),
  input_held_by: ({ task }) => toStoredKey(task.details.inputHeldBy, "inputHeldBy"),
  tokens: ({ task }) => task.course.usage.tokens,
  cost_micros: ({ task }) => task.course.usage.costMicros,
  resume_count: ({ task }) => task.course.resumeCount,
  retrieved_at: ({ task }) => task.course.retrievedAt,
  progress: ({ task }) => task.course.progress && toStoredJson(task.course.progress, "progress"),
  state: ({ state }) => state.rest,
  patch: ({ state }) => state.patch,
}

const INPUT: Reading = {
  input: ({ task }) => toStoredJson(task.details.input, "input"),
  metadata: ({ task }) => toStoredJson(task.details.metadata, "metadata"),
}

/** The columns that stay as they were when the task was made. */
const STAYING: Reading = {
  id: ({ task }) => toStoredKey(task.details.id, "id"),
  workspace: ({ task }) => toStoredKey(task.details.workspace, "workspace"),
  kind: ({ task }) => task.details.kind,
  plugin: ({ task }) => toStoredKey(task.details.plugin, "plugin"),
  tool: ({ task }) => toStoredKey(task.details.tool, "tool"),
  model: ({ task }) => toStoredKey(task.details.model, "model"),
  parent_task: ({ task }) => toStoredKey(task.details.parentTask, "parentTask"),
  parent_message: ({ task }) => toStoredKey(task.details.parentMessage, "parentMessage"),
  batch: ({ task }) => toStoredKey(task.details.batch, "batch"),
  lifetime: ({ task }) => task.details.lifetime,
  notify: ({ task }) => task.details.notify,
  depth: ({ task }) => task.details.depth,
  trace_id: ({ task }) => toStoredKey(task.details.traceId, "traceId"),
  idempotency_key: ({ task }) => toStoredKey(task.details.idempotencyKey, "idempotencyKey"),
  asked_by_task: ({ task: { details } }) => details.askedBy && toStoredKey(details.askedBy.taskId, "taskId"),
  asked_by_run: ({ task: { details } }) => details.askedBy && details.askedBy.run,
  asked_by_key: ({ task: { details } }) => details.askedBy && toStoredKey(details.askedBy.key, "key"),
  timeout_ms: ({ task }) => task.details.limits.timeoutMs,
  limit_tokens: ({ task }) => task.details.limits.tokens,
  limit_cost_micros: ({ task }) => task.details.limits.costMicros,
  limit_output_bytes: ({ task }) => task.details.limits.outputBytes,
  created_at: ({ task }) => task.course.createdAt,
}

/** All of new tasks. */
function toTaskColumns(entries: readonly TaskEntry[]): readonly Column[] {
  return readAll({ ...NUMBER, ...MOVING, ...INPUT, ...STAYING }, entries.map(toSource))
}

function toInputColumns(entries: readonly TaskEntry[]): readonly Column[] {
  return readAll({ ...NUMBER, ...INPUT }, entries.map(toSource))
}

/** The number, and what is not in every one of the tasks as it was before; nothing when all is. */
function toChangedColumns(before: readonly TaskEntry[], after: readonly TaskEntry[]): readonly Column[] {
  const sources = after.map(toSource)
  const was = readAll(MOVING, before.map(toSource))
  const changed = readAll(MOVING, sources).filter(({ values }, index) =>
    values.some((value, row) => value !== was[index]?.values[row]),
  )
  return changed.length === 0 ? [] : [...readAll(NUMBER, sources), ...changed]
}

function toSource({ task, hasUnusedResult, usedAt }: TaskEntry): Source {
  return { task, hasUnusedResult, usedAt, state: toStateColumns(task.state) }
}

function readAll(reading: Reading, sources: readonly Source[]): readonly Column[] {
  return Object.entries(reading).map(([name, read]) => ({ name, values: sources.map(read) }))
}
