import { toEventText } from "../../rules/rows/event-row.ts"
import type { TaskEntry } from "../working-set/task-rows.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { Bulk } from "./bulk.ts"
import { toInputColumns, toMovingColumns, toTaskColumns } from "./task-columns.ts"

const EVENT_COLUMNS = ["task", "sequence", "run", "at", "type", "body"]

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
  const moved: Moved[] = []
  const withInput: TaskEntry[] = []
  for (const { before, after } of tasks.changes()) {
    if (!after) continue
    if (before?.task.number !== after.task.number) {
      inserted.push(after)
      continue
    }
    moved.push({ before: toMovingColumns(before), after: toMovingColumns(after) })
    const was = before.task.details
    const { input, metadata } = after.task.details
    if (was.input !== input || was.metadata !== metadata) withInput.push(after)
  }
  const rows = inserted.map(toTaskColumns)
  bulk.insert("tasks", Object.keys(rows[0] ?? {}), rows)
  updateMoved(bulk, moved)
  bulk.update("tasks", ["input", "metadata"], ["number"], withInput.map(toInputColumns))
  bulk.insert(
    "events",
    EVENT_COLUMNS,
    events.appended().map(({ task, sequence, run, at, body }) => ({
      task,
      sequence,
      run,
      at,
      type: body.type,
      body: toEventText(body),
    })),
  )
}

interface Moved {
  readonly before: MovingColumns
  readonly after: MovingColumns
}

type MovingColumns = ReturnType<typeof toMovingColumns>

/** Only the columns that change in any of them. */
function updateMoved(bulk: Bulk, moved: readonly Moved[]): void {
  const columns = Object.keys(moved[0]?.after ?? {}) as (keyof MovingColumns)[]
  const changed = columns.filter((column) => moved.some(({ before, after }) => before[column] !== after[column]))
  if (changed.length === 0) return
  bulk.update(
    "tasks",
    ["number", ...changed],
    ["number"],
    moved.map(({ after }) => after),
  )
}
