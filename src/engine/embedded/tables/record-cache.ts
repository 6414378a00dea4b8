import type { DatabaseSync } from "node:sqlite"
import type { SessionId, TaskId } from "../../../task/id.ts"
import { prepareDataVersion } from "../sqlite/statement.ts"
import { createSessionCache } from "./session-table.ts"
import { createStepCache, type KnownSteps, withNewSteps } from "./step-table.ts"
import { createTaskCache } from "./task-table.ts"
import type { StoredSession, StoredTask, Tables } from "../../rules/tables.ts"
import { createWriterMemory } from "./writer-memory.ts"

/** Records that this engine wrote or read lately, so that it need not read them again. */
export interface RecordCache {
  /** The tables as the operations see them, inside a transaction that holds the write lock. */
  readonly tables: Tables
  /** Called at the beginning of a transaction or a read: forgets everything if another process wrote since the last one. */
  begin(): void
  /** Called at the beginning of each writer within a transaction. */
  beginWriter(): void
  /** Called before a commit or the release of a savepoint: writes the records that were held back to be written once. */
  save(): void
  /** Called when the writer's changes were rolled back. */
  forgetWriter(): void
  /** Called when the transaction's changes were rolled back. */
  forgetAll(): void
}

const MOST_TASKS = 2_000
const MOST_SESSIONS = 1_000

/**
 * Correct with several processes: SQLite's data version changes when another connection commits, and none can commit
 * between `begin` and the end of a transaction that holds the write lock. A read without the lock may find a record
 * newer than the version it looked at; the next `begin` then forgets it.
 */
export function createRecordCache(database: DatabaseSync, tables: Tables): RecordCache {
  const readVersion = prepareDataVersion(database)
  const tasks = createWriterMemory<TaskId, StoredTask>(MOST_TASKS)
  const sessions = createWriterMemory<SessionId, StoredSession>(MOST_SESSIONS)
  const steps = createWriterMemory<number, KnownSteps>(MOST_TASKS)
  const memories = [tasks, sessions, steps]
  let version = 0

  const taskCache = createTaskCache(tables.tasks, tasks)
  const sessionCache = createSessionCache(tables.sessions, sessions)

  function forgetUnsaved(): void {
    taskCache.forgetFacts()
    sessionCache.forget()
  }

  function forgetAll(): void {
    forgetUnsaved()
    for (const memory of memories) memory.clear()
  }

  return {
    tables: {
      ...tables,
      tasks: withNewSteps(taskCache.tasks, steps),
      sessions: sessionCache.sessions,
      steps: createStepCache(tables.steps, steps),
    },
    begin() {
      const found = readVersion()
      if (found !== version) forgetAll()
      version = found
      for (const memory of memories) memory.limit()
    },
    beginWriter() {
      for (const memory of memories) memory.beginWriter()
    },
    save() {
      taskCache.saveFacts()
      sessionCache.save()
    },
    forgetWriter() {
      forgetUnsaved()
      for (const memory of memories) memory.forgetWriter()
    },
    forgetAll,
  }
}
