import type { TaskId } from "../../../task/id.ts"
import { isTerminal } from "../../../task/lifecycle.ts"
import type { StoredTask } from "../../rules/stored-task.ts"
import type { TaskTable } from "../../rules/tables.ts"
import type { WriterMemory } from "./writer-memory.ts"

export interface TaskCache {
  readonly tasks: TaskTable
  /** Writes the facts that were kept back: a task of which several are told in one transaction is written once. */
  saveFacts(): void
  /** The changes of the writer, or of all, were taken back. */
  forgetFacts(): void
}

/** Remembers live tasks, so that moving one need not read it. */
export function createTaskCache(table: TaskTable, known: WriterMemory<TaskId, StoredTask>): TaskCache {
  let unsaved = new Map<TaskId, StoredTask>()

  function remember(task: StoredTask): StoredTask {
    const { id } = task.details
    if (task.hasLargeInput || isTerminal(task.state.status)) known.delete(id)
    else known.set(id, task)
    return task
  }

  function saveFacts(): void {
    if (unsaved.size === 0) return
    for (const task of unsaved.values()) table.saveFacts(task)
    forgetFacts()
  }

  function forgetFacts(): void {
    unsaved = new Map()
  }

  /** For what does not ask by id, the table must be right. */
  function whole<Arguments extends readonly unknown[], Found>(
    find: (...by: Arguments) => Found,
  ): (...by: Arguments) => Found {
    return (...by) => {
      saveFacts()
      return find(...by)
    }
  }

  const tasks: TaskTable = {
    ...table,
    find(id) {
      const task = unsaved.get(id) ?? known.get(id)
      if (task) return task
      const found = table.find(id)
      return found && remember(found)
    },
    findByIdempotencyKey: whole(table.findByIdempotencyKey),
    findByAskingStep: whole(table.findByAskingStep),
    ofSession: whole(table.ofSession),
    insert: (task) => remember(table.insert(task)),
    saveRun(task) {
      unsaved.delete(task.details.id)
      table.saveRun(task)
      remember(task)
    },
    saveFacts(task) {
      unsaved.set(task.details.id, task)
      remember(task)
    },
    saveDetails(task) {
      saveFacts()
      table.saveDetails(task)
      remember(task)
    },
    saveInput(task) {
      saveFacts()
      table.saveInput(task)
      known.delete(task.details.id)
    },
    remove(task) {
      unsaved.delete(task.details.id)
      table.remove(task)
      known.delete(task.details.id)
    },
  }
  return { tasks, saveFacts, forgetFacts }
}
