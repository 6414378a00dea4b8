import type { Step } from "../../../../task/step.ts"
import type { StepTable, RunTable } from "../../../rules/tables.ts"
import { type Changed, createLog, createMemory, type UndoLog } from "./memory.ts"
import type { TaskRows } from "./task-rows.ts"
import { missing, toKey } from "./wants.ts"
import type { TaskRecord } from "../../../../task/record.ts"

export interface StepEntry {
  readonly task: number
  readonly step: Step
  /** The sequence of the first event about the step. */
  readonly firstSequence: number
}

export interface StepRows {
  readonly table: StepTable
  learn(task: number, run: number, key: string, entry: StepEntry | undefined): void
  learnCompletion(task: number, run: number, last: number): void
  /** Tasks whose stored steps are removed. */
  removals(): readonly number[]
  changes(): readonly Changed<StepEntry>[]
}

export function createStepRows(undo: UndoLog, tasks: TaskRows): StepRows {
  const steps = createMemory<StepEntry>(undo)
  const completions = createMemory<{ readonly task: number; readonly run: number; readonly last: number }>(undo)
  const cleared = createMemory<true>(undo)
  const removals = createLog<number>(undo)

  /** True if the store has no steps of the task, or will have none of those it has. */
  function isWhole(task: number): boolean {
    return cleared.isKnown(String(task)) || tasks.isNew(task)
  }

  function entryOf(task: number, run: number, key: string): StepEntry | undefined {
    const place = toKey([task, run, key])
    if (!steps.isKnown(place) && !isWhole(task)) throw missing("step", { taskId: tasks.idOf(task), run, key })
    return steps.get(place)
  }

  const table: StepTable = {
    find: (task, _taskId, run, key) => entryOf(task, run, key)?.step,
    lastCompletion(task, run) {
      const place = toKey([task, run])
      if (!completions.isKnown(place) && !isWhole(task))
        throw missing("lastCompletion", { taskId: tasks.idOf(task), run })
      return completions.get(place)?.last ?? 0
    },
    start(task, step, firstSequence) {
      if (entryOf(task, step.run, step.key)) return false
      steps.set(toKey([task, step.run, step.key]), { task, step, firstSequence })
      return true
    },
    finish(task, step, sequence) {
      const known = entryOf(task, step.run, step.key)
      const firstSequence = known?.firstSequence ?? sequence
      steps.set(toKey([task, step.run, step.key]), { task, step, firstSequence })
      completions.set(toKey([task, step.run]), { task, run: step.run, last: step.completion })
    },
    remove(task) {
      removals.add(task)
      for (const { task: owner, step } of steps.values())
        if (owner === task) steps.set(toKey([task, step.run, step.key]), undefined)
      for (const { task: owner, run } of completions.values())
        if (owner === task) completions.set(toKey([task, run]), undefined)
      cleared.set(String(task), true)
    },
  }

  return {
    table,
    learn: (task, run, key, entry) => steps.learn(toKey([task, run, key]), entry),
    learnCompletion: (task, run, last) => completions.learn(toKey([task, run]), { task, run, last }),
    removals: removals.entries,
    changes: steps.changes,
  }
}

export interface RunEntry {
  readonly task: number
  readonly record: TaskRecord
}

export interface RunRows {
  readonly table: RunTable
  /** Learns all earlier runs of the task. */
  learn(task: number, records: readonly TaskRecord[]): void
  removals(): readonly number[]
  changes(): readonly Changed<RunEntry>[]
}

export function createRunRows(undo: UndoLog, tasks: TaskRows): RunRows {
  const runs = createMemory<RunEntry>(undo)
  const wholeTasks = createMemory<true>(undo)
  const removals = createLog<number>(undo)

  /** A task that is stored in its first run has no earlier one there. */
  function requireWhole(task: number): void {
    const id = tasks.idOf(task)
    if (wholeTasks.isKnown(String(task)) || tasks.isNew(task) || tasks.learned(id)?.course.run === 1) return
    throw missing("runsOfTask", id)
  }

  function of(task: number): readonly RunEntry[] {
    return runs.values().filter((entry) => entry.task === task)
  }

  const table: RunTable = {
    find(task, run) {
      requireWhole(task)
      return runs.get(toKey([task, run]))?.record
    },
    all(task) {
      requireWhole(task)
      const records = of(task).map(({ record }) => record)
      return records.toSorted((one, other) => one.run - other.run)
    },
    save: (task, record) => runs.set(toKey([task, record.run]), { task, record }),
    remove(task) {
      removals.add(task)
      for (const { record } of of(task)) runs.set(toKey([task, record.run]), undefined)
    },
  }

  return {
    table,
    learn(task, records) {
      wholeTasks.learn(String(task), true)
      for (const record of records) runs.learn(toKey([task, record.run]), { task, record })
    },
    removals: removals.entries,
    changes: runs.changes,
  }
}
