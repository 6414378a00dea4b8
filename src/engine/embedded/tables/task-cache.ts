import type { DatabaseSync } from "node:sqlite"
import type { TaskId } from "../../../task/id.ts"
import { isTerminal } from "../../../task/lifecycle.ts"
import { prepare } from "../statement.ts"
import type { StoredTask } from "./task-row.ts"
import type { TaskTable } from "./task-table.ts"

/** Remembers live tasks from one transaction to the next, so that moving a task need not read it. */
export interface TaskCache {
  /** The table as the operations see it, inside a transaction that holds the write lock. */
  readonly tasks: TaskTable
  /** At the beginning of a transaction: forgets everything when another process wrote since the last one. */
  begin(): void
  /** At the beginning of each writer within it. */
  beginWriter(): void
  /** The writer's changes were taken back. */
  forgetWriter(): void
  /** The transaction's changes were taken back. */
  forgetAll(): void
}

const LARGEST_CACHE = 2_000

/**
 * Right with several processes: SQLite's data version changes when another connection commits, and none can commit
 * between `begin` and the end of a transaction that holds the write lock.
 */
export function createTaskCache(database: DatabaseSync, table: TaskTable): TaskCache {
  const readVersion = prepare<{ data_version: number }>(database, "PRAGMA data_version")
  const known = new Map<TaskId, StoredTask>()
  let ofWriter: TaskId[] = []
  let version = 0

  function remember(task: StoredTask): StoredTask {
    const { id } = task.details
    ofWriter.push(id)
    if (task.hasLargeInput || isTerminal(task.state.status)) known.delete(id)
    else known.set(id, task)
    return task
  }

  function forgetOldest(): void {
    for (const id of known.keys()) {
      if (known.size <= LARGEST_CACHE) return
      known.delete(id)
    }
  }

  const tasks: TaskTable = {
    ...table,
    find(id) {
      const task = known.get(id)
      if (task) return task
      const found = table.find(id)
      return found && remember(found)
    },
    insert: (task) => remember(table.insert(task)),
    saveRun(task) {
      table.saveRun(task)
      remember(task)
    },
    saveFacts(task) {
      table.saveFacts(task)
      remember(task)
    },
    saveDetails(task) {
      table.saveDetails(task)
      remember(task)
    },
    saveInput(task) {
      table.saveInput(task)
      known.delete(task.details.id)
    },
    remove(task) {
      table.remove(task)
      known.delete(task.details.id)
    },
  }

  return {
    tasks,
    begin() {
      const found = readVersion.get()?.data_version ?? 0
      if (found !== version) known.clear()
      version = found
      forgetOldest()
    },
    beginWriter() {
      ofWriter = []
    },
    forgetWriter() {
      for (const id of ofWriter) known.delete(id)
    },
    forgetAll: () => known.clear(),
  }
}
