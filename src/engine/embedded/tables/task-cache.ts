import type { TaskId } from "../../../task/id.ts"
import { isTerminal } from "../../../task/lifecycle.ts"
import type { StoredTask } from "./task-row.ts"
import type { TaskTable } from "./task-table.ts"
import type { WriterMemory } from "./writer-memory.ts"

/** Remembers live tasks, so that moving one need not read it. */
export function createTaskCache(table: TaskTable, known: WriterMemory<TaskId, StoredTask>): TaskTable {
  function remember(task: StoredTask): StoredTask {
    const { id } = task.details
    if (task.hasLargeInput || isTerminal(task.state.status)) known.delete(id)
    else known.set(id, task)
    return task
  }

  return {
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
}
