import type { TaskRecord } from "../../../../task/record.ts"
import type { RunTable } from "../../../rules/tables.ts"
import { type Changed, createLog, createMemory, type UndoLog } from "./memory.ts"
import type { TaskRows } from "./task-rows.ts"
import { missing, toKey } from "./wants.ts"

export interface RunEntry {
  readonly task: number
  readonly record: TaskRecord
}

export interface RunRows {
  readonly table: RunTable
  /** All earlier runs of the task. */
  learn(task: number, records: readonly TaskRecord[]): void
  removals(): readonly number[]
  changes(): readonly Changed<RunEntry>[]
}

export function createRunRows(undo: UndoLog, tasks: TaskRows): RunRows {
  const runs = createMemory<RunEntry>(undo)
  const wholeTasks = createMemory<true>(undo)
  const removals = createLog<number>(undo)

  /** A task whose first run is the last in the store has no earlier one there. */
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
