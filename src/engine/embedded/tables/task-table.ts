import type { DatabaseSync } from "node:sqlite"
import { isTerminal } from "../../../task/lifecycle.ts"
import { prepare, type Statement } from "../sqlite/statement.ts"
import {
  toInputText,
  parseInput,
  SUMMARY_COLUMNS,
  type TaskRow,
  toStoredTask,
  toStateColumns,
} from "../../rules/rows/task-row.ts"
import { createLargeInputTable, isLarge, type LargeInputTable, createTaskInsert } from "./task-insert.ts"
import type { TaskTable } from "../../rules/tables.ts"
import type { StoredTask } from "../../rules/stored-task.ts"
import type { TaskId } from "../../../task/id.ts"
import type { WriterMemory } from "./writer-memory.ts"

const SAVE_RUN = `UPDATE tasks SET status = ?, run = ?, fence = ?, last_sequence = ?, worker = ?, available_at = ?,
  queued_at = ?, started_at = ?, ended_at = ?, ran_ms = ?, has_unused_result = ?, used_at = ?, state = ?, patch = ?,
  progress = ?, tokens = ?, cost_micros = ?, resume_count = ?, retrieved_at = ?, stripped_at = ? WHERE number = ?`

const SAVE_FACTS = `UPDATE tasks SET last_sequence = ?, progress = ?, tokens = ?, cost_micros = ?, resume_count = ?,
  retrieved_at = ?, stripped_at = ?, patch = ? WHERE number = ?`

export function createTaskTable(database: DatabaseSync): TaskTable {
  const largeInputs = createLargeInputTable(database)
  const saveRun = prepare(database, SAVE_RUN)
  const saveFacts = prepare(database, SAVE_FACTS)
  const saveDetails = prepare(
    database,
    "UPDATE tasks SET priority = ?, session = ?, group_id = ?, input_held_by = ?, title = ?, folder = ? WHERE number = ?",
  )
  const saveInput = prepare(database, "UPDATE tasks SET input = ?, metadata = ? WHERE number = ?")
  const markUsed = prepare(database, "UPDATE tasks SET has_unused_result = 0, used_at = ? WHERE number = ?")
  const remove = prepare(database, "DELETE FROM tasks WHERE number = ?")

  return {
    ...createTaskFinder(database, largeInputs),
    insert: createTaskInsert(database, largeInputs),
    saveRun({ number, details, course, state }) {
      const { worker, availableAt, endedAt, rest, patch } = toStateColumns(state)
      const isTurn = details.kind === "turn"
      saveRun.run(
        state.status,
        course.run,
        course.fence,
        course.lastSequence,
        worker,
        availableAt,
        course.queuedAt,
        course.startedAt,
        endedAt,
        course.ranMs,
        isTerminal(state.status) && !isTurn ? 1 : 0,
        isTurn ? endedAt : null,
        rest,
        patch,
        course.progress && JSON.stringify(course.progress),
        course.usage.tokens,
        course.usage.costMicros,
        course.resumeCount,
        course.retrievedAt,
        course.strippedAt,
        number,
      )
    },
    saveFacts({ number, course, state }) {
      saveFacts.run(
        course.lastSequence,
        course.progress && JSON.stringify(course.progress),
        course.usage.tokens,
        course.usage.costMicros,
        course.resumeCount,
        course.retrievedAt,
        course.strippedAt,
        toStateColumns(state).patch,
        number,
      )
    },
    saveDetails({ number, details }) {
      const { priority, session, group, inputHeldBy, title, folder } = details
      saveDetails.run(priority, session, group, inputHeldBy, title, folder, number)
    },
    saveInput({ number, details }) {
      const text = toInputText(details)
      const liesApart = isLarge(text)
      if (liesApart) largeInputs.save(number, text)
      else largeInputs.remove(number)
      saveInput.run(liesApart ? null : text.input, liesApart ? null : text.metadata, number)
    },
    markResultUsed: (number, at) => void markUsed.run(at, number),
    remove({ number }) {
      largeInputs.remove(number)
      remove.run(number)
    },
  }
}

type TaskFinder = Pick<TaskTable, "find" | "findByIdempotencyKey" | "findByAskingStep" | "ofSession">

const NO_INPUT = { input: "null", metadata: "{}" }

function createTaskFinder(database: DatabaseSync, largeInputs: LargeInputTable): TaskFinder {
  const prepareWhere = (condition: string): Statement<TaskRow> =>
    prepare(database, `SELECT ${SUMMARY_COLUMNS}, patch, metadata, input FROM tasks WHERE ${condition}`)
  const byId = prepareWhere("id = ?")
  const byIdempotencyKey = prepareWhere("workspace = ? AND idempotency_key = ?")
  const byAskingStep = prepareWhere("asked_by_task = ? AND asked_by_run = ? AND asked_by_key = ?")
  const bySession = prepareWhere("session = ?")

  function read(row: TaskRow): StoredTask {
    const { input, metadata } = row
    const isInline = input !== null && metadata !== null
    const text = isInline ? { input, metadata } : (largeInputs.find(row.number) ?? NO_INPUT)
    return toStoredTask(row, parseInput(text), !isInline)
  }

  const readIf = (row: TaskRow | undefined): StoredTask | undefined => row && read(row)

  return {
    find: (id) => readIf(byId.get(id)),
    findByIdempotencyKey: (workspace, key) => readIf(byIdempotencyKey.get(workspace, key)),
    findByAskingStep: ({ taskId, run, key }) => readIf(byAskingStep.get(taskId, run, key)),
    ofSession: (session) => bySession.all(session).map(read),
  }
}

interface TaskCache {
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
