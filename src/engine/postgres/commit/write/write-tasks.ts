import { toEventText } from "../../../rules/rows/journal-row.ts"
import type { StoredTask } from "../../../rules/tables.ts"
import type { TaskEntry } from "../working-set/task-rows.ts"
import { type SortedChanges, sortChanges } from "../working-set/memory.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import { type Bulk, columnsOf, type Column, type Value } from "./bulk.ts"
import {
  CHANGEABLE_COLUMNS,
  COLUMNS_OF_TEXT,
  FIXED_COLUMNS,
  RUN_COLUMNS,
  type TaskColumns,
  type WrittenTask,
} from "../../../rules/rows/task-row.ts"
import { toStateColumns } from "../../../rules/rows/state-columns.ts"
import { toStoredJson, toStoredKey, toStoredText } from "../../schema/storable.ts"

/** A task that has the id of a removed one is another task. */
export function sortTasks({ changes }: WorkingSet["tasks"]): SortedChanges<TaskEntry> {
  return sortChanges(changes(), (one, other) => one.task.number === other.task.number)
}

/** Removes tasks before other tasks are written, which may have the ids and keys of the removed ones. */
export function removeTasks(bulk: Bulk, { tasks, events }: WorkingSet): void {
  const gone = sortTasks(tasks).gone.map(({ task }) => task.number)
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
  const { made, changed } = sortTasks(tasks)
  const withInput = changed.filter(({ before, after }) => {
    const [was, is] = [before.task.details, after.task.details]
    return was.input !== is.input || was.metadata !== is.metadata
  })
  bulk.insert("tasks", readAll(ALL, made.map(toSource)))
  bulk.update("tasks", toChangedColumns(changed), KEY)
  bulk.update(
    "tasks",
    readAll(
      { ...NUMBER, ...INPUT },
      withInput.map(({ after }) => toSource(after)),
    ),
    KEY,
  )
  const appended = events.appended().map(({ task, sequence, run, at, body }) => {
    return { task, sequence, run, at, type: body.type, body: toEventText(body) }
  })
  bulk.insert("events", columnsOf(appended))
}

const KEY = ["number"]

interface Source extends WrittenTask {
  readonly task: StoredTask
}

/** The columns of a task, by name. */
type Reading = Readonly<Record<string, (source: Source) => Value>>

const NUMBER: Reading = { number: ({ task }) => task.number }

const INPUT: Reading = {
  input: ({ task }) => toStoredJson(task.details.input, "input"),
  metadata: ({ task }) => toStoredJson(task.details.metadata, "metadata"),
}

/** Columns that do not have the name of their field. */
const FIELD_OF: Readonly<Record<string, string>> = { group_id: "group", asked_by_task: "taskId", asked_by_key: "key" }

/** The columns that change while a task lives. */
const MOVING: Reading = {
  ...toStorable({ ...RUN_COLUMNS, ...CHANGEABLE_COLUMNS }),
  progress: ({ task }) => task.course.progress && toStoredJson(task.course.progress, "progress"),
  // JSON, which every store can keep.
  state: RUN_COLUMNS.state,
  patch: RUN_COLUMNS.patch,
}

const ALL: Reading = { ...NUMBER, ...MOVING, ...INPUT, ...toStorable(FIXED_COLUMNS) }

function toStorable(columns: TaskColumns): Reading {
  return Object.fromEntries(Object.entries(columns).map(([name, read]) => [name, toStorableReading(name, read)]))
}

function toStorableReading(name: string, read: TaskColumns[string]): Reading[string] {
  const field = FIELD_OF[name] ?? name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return (source) => {
    const value = read(source)
    if (typeof value !== "string") return value
    return COLUMNS_OF_TEXT.has(name) ? toStoredText(value) : toStoredKey(value, field)
  }
}

/** The number, and the columns that have changed in at least one of the tasks; empty if none has. */
function toChangedColumns(tasks: SortedChanges<TaskEntry>["changed"]): readonly Column[] {
  const sources = tasks.map(({ after }) => toSource(after))
  const was = readAll(
    MOVING,
    tasks.map(({ before }) => toSource(before)),
  )
  const changed = readAll(MOVING, sources).filter(({ values }, index) =>
    values.some((value, row) => value !== was[index]?.values[row]),
  )
  return changed.length === 0 ? [] : [...readAll(NUMBER, sources), ...changed]
}

function toSource(entry: TaskEntry): Source {
  return { ...entry, state: toStateColumns(entry.task.state) }
}

function readAll(reading: Reading, sources: readonly Source[]): readonly Column[] {
  return Object.entries(reading).map(([name, read]) => ({ name, values: sources.map(read) }))
}
