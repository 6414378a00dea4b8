import type { Reads } from "../read/reads.ts"
import type { Step } from "../../../task/step.ts"
import type { Prepare } from "../sqlite/statement.ts"
import { STEP_COLUMNS, type StepRow, toStep } from "../../rules/rows/journal-row.ts"
import type { StepTable, TaskTable } from "../../rules/tables.ts"
import type { WriterMemory } from "./writer-memory.ts"

export type StoredSteps = StepTable & { readonly read: Reads["steps"] }

export function createStepTable(prepare: Prepare): StoredSteps {
  const find = prepare<StepRow>(`SELECT ${STEP_COLUMNS} FROM steps WHERE task = ? AND run = ? AND key = ?`)
  const read = prepare<StepRow>(
    `SELECT ${STEP_COLUMNS} FROM steps WHERE task = (SELECT number FROM tasks WHERE id = ?) AND run = ? ORDER BY first_sequence`,
  )
  const lastCompletion = prepare<{ last: number | null }>(
    "SELECT max(completion) AS last FROM steps WHERE task = ? AND run = ? AND completion IS NOT NULL",
  )
  const start = prepare(`INSERT INTO steps (task, run, key, first_sequence, on_crash, started_at)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (task, run, key) DO NOTHING`)
  const finish = prepare(`INSERT INTO steps
       (task, run, key, first_sequence, on_crash, started_at, finished_at, completion, result)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (task, run, key) DO UPDATE SET
       finished_at = excluded.finished_at, completion = excluded.completion, result = excluded.result`)
  const remove = prepare("DELETE FROM steps WHERE task = ?")
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

/** The known facts about the steps of a task's run. */
export interface KnownSteps {
  readonly run: number
  /** The number of the step that finished last; null until it was read. */
  readonly completion: number | null
  /** The step that started last; null once it has finished. */
  readonly started: Step | null
}

/**
 * Remembers the number of the step that finished last, which takes longer to find the more steps there are, and the
 * step that is under way.
 */
export function createStepCache(table: StepTable, known: WriterMemory<number, KnownSteps>): StepTable {
  function find(task: number, run: number): KnownSteps {
    const steps = known.get(task)
    return steps?.run === run ? steps : { run, completion: null, started: null }
  }

  return {
    ...table,
    find(task, taskId, run, key) {
      const { started } = find(task, run)
      return started?.key === key ? started : table.find(task, taskId, run, key)
    },
    lastCompletion(task, run) {
      const steps = find(task, run)
      if (steps.completion !== null) return steps.completion
      const completion = table.lastCompletion(task, run)
      known.set(task, { ...steps, completion })
      return completion
    },
    start(task, step, sequence) {
      const isNew = table.start(task, step, sequence)
      if (isNew) known.set(task, { ...find(task, step.run), started: step })
      return isNew
    },
    finish(task, step, sequence) {
      table.finish(task, step, sequence)
      const { started } = find(task, step.run)
      const { run, completion } = step
      known.set(task, { run, completion, started: started?.key === step.key ? null : started })
    },
    remove(task) {
      table.remove(task)
      known.delete(task)
    },
  }
}

/** Remembers of a new task that it has no steps. */
export function withNewSteps(tasks: TaskTable, known: WriterMemory<number, KnownSteps>): TaskTable {
  return {
    ...tasks,
    insert(task) {
      const stored = tasks.insert(task)
      known.set(stored.number, { run: stored.course.run, completion: 0, started: null })
      return stored
    },
  }
}
