import { toEventText } from "../../../rules/rows/journal-row.ts"
import type { StoredTask } from "../../../rules/stored-task.ts"
import type { TaskEntry } from "../working-set/task-rows.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import { type Bulk, columnsOf, type Column, type Value } from "./bulk.ts"
import {
  CHANGEABLE_COLUMNS,
  FIXED_COLUMNS,
  RUN_COLUMNS,
  type TaskColumns,
  type WrittenTask,
} from "../../../rules/rows/task-row.ts"
import { toStateColumns } from "../../../rules/rows/state-columns.ts"
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
  bulk.insert("tasks", readAll(ALL, inserted.map(toSource)))
  bulk.update("tasks", toChangedColumns(movedFrom, moved), KEY)
  bulk.update("tasks", readAll({ ...NUMBER, ...INPUT }, withInput.map(toSource)), KEY)
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

/** The columns that move while a task lives. */
const MOVING: Reading = {
  ...toStorable({ ...RUN_COLUMNS, ...CHANGEABLE_COLUMNS }),
  title: ({ task }) => toStoredText(task.details.title),
  progress: ({ task }) => task.course.progress && toStoredJson(task.course.progress, "progress"),
  // JSON, which every store can keep.
  state: RUN_COLUMNS.state,
  patch: RUN_COLUMNS.patch,
}

const ALL: Reading = { ...NUMBER, ...MOVING, ...INPUT, ...toStorable(FIXED_COLUMNS) }

/** Text in these columns is an id or a name. */
function toStorable(columns: TaskColumns): Reading {
  return Object.fromEntries(Object.entries(columns).map(([name, read]) => [name, toStorableReading(name, read)]))
}

function toStorableReading(name: string, read: TaskColumns[string]): Reading[string] {
  const field = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return (source) => {
    const value = read(source)
    return typeof value === "string" ? toStoredKey(value, field) : value
  }
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

function toSource(entry: TaskEntry): Source {
  return { ...entry, state: toStateColumns(entry.task.state) }
}

function readAll(reading: Reading, sources: readonly Source[]): readonly Column[] {
  return Object.entries(reading).map(([name, read]) => ({ name, values: sources.map(read) }))
}
