import type { DatabaseSync } from "node:sqlite"
import type { TaskId } from "../../../task/id.ts"
import type { Step } from "../../../task/step.ts"
import { prepare } from "../sqlite/statement.ts"
import { STEP_COLUMNS, type StepRow, toStep } from "../../rules/rows/step-row.ts"
import type { StepTable } from "../../rules/tables.ts"

export interface StoredSteps extends StepTable {
  read(id: TaskId, run: number): readonly Step[]
}

export function createStepTable(database: DatabaseSync): StoredSteps {
  const find = prepare<StepRow>(database, `SELECT ${STEP_COLUMNS} FROM steps WHERE task = ? AND run = ? AND key = ?`)
  const read = prepare<StepRow>(
    database,
    `SELECT ${STEP_COLUMNS} FROM steps WHERE task = (SELECT number FROM tasks WHERE id = ?) AND run = ? ORDER BY first_sequence`,
  )
  const lastCompletion = prepare<{ last: number | null }>(
    database,
    "SELECT max(completion) AS last FROM steps WHERE task = ? AND run = ? AND completion IS NOT NULL",
  )
  const start = prepare(
    database,
    `INSERT INTO steps (task, run, key, first_sequence, on_crash, started_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (task, run, key) DO NOTHING`,
  )
  const finish = prepare(
    database,
    `INSERT INTO steps (task, run, key, first_sequence, on_crash, started_at, finished_at, completion, result)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (task, run, key) DO UPDATE SET
       finished_at = excluded.finished_at, completion = excluded.completion, result = excluded.result`,
  )
  const remove = prepare(database, "DELETE FROM steps WHERE task = ?")
  return {
    find(task, taskId, run, key) {
      const row = find.get(task, run, key)
      return row && toStep(taskId, run, row)
    },
    read: (id, run) => read.all(id, run).map((row) => toStep(id, run, row)),
    lastCompletion: (task, run) => lastCompletion.get(task, run)?.last ?? 0,
    start: (task, { run, key, onCrash, startedAt }, sequence) =>
      start.run(task, run, key, sequence, onCrash, startedAt).changes === 1,
    finish(task, { run, key, onCrash, startedAt, finishedAt, completion, result }, sequence) {
      finish.run(task, run, key, sequence, onCrash, startedAt, finishedAt, completion, JSON.stringify(result))
    },
    remove: (task) => void remove.run(task),
  }
}
