import { toEventText } from "../../../rules/rows/event-row.ts"
import type { TaskEntry } from "../working-set/task-rows.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { Bulk } from "./bulk.ts"
import { columnsOf } from "./row-source.ts"
import { toChangedColumns, toInputColumns, toTaskColumns } from "./task-columns.ts"

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
