import { isTerminal } from "../../../task/lifecycle.ts"
import type { Prepare, Statement } from "../sqlite/statement.ts"
import {
  CHANGEABLE_COLUMNS,
  FACT_COLUMNS,
  FIXED_COLUMNS,
  type InputText,
  parseInput,
  RUN_COLUMNS,
  SUMMARY_COLUMNS,
  type TaskColumns,
  type TaskRow,
  toBelow,
  toInputText,
  toStoredTask,
  type WrittenTask,
} from "../../rules/rows/task-row.ts"
import { toStateColumns } from "../../rules/rows/state-columns.ts"
import type { NewTask, StoredTask, TaskTable } from "../../rules/tables.ts"
import type { TaskId } from "../../../task/id.ts"
import type { WriterMemory } from "./writer-memory.ts"

export function createTaskTable(prepare: Prepare): TaskTable {
  const largeInputs = createLargeInputTable(prepare)
  const saveRun = prepareUpdate(prepare, RUN_COLUMNS)
  const saveFacts = prepareUpdate(prepare, FACT_COLUMNS)
  const saveDetails = prepareUpdate(prepare, CHANGEABLE_COLUMNS)
  const saveInput = prepare("UPDATE tasks SET input = ?, metadata = ? WHERE number = ?")
  const markUsed = prepare("UPDATE tasks SET has_unused_result = 0, used_at = ? WHERE number = ?")
  const remove = prepare("DELETE FROM tasks WHERE number = ?")

  return {
    ...createTaskFinder(prepare, largeInputs),
    insert: createTaskInsert(prepare, largeInputs),
    saveRun,
    saveFacts,
    saveDetails,
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

function createTaskInsert(prepare: Prepare, largeInputs: LargeInputTable): (task: NewTask) => StoredTask {
  const columns = { ...RUN_COLUMNS, ...CHANGEABLE_COLUMNS, ...FIXED_COLUMNS }
  const names = [...Object.keys(columns), "metadata", "input"]
  const insert = prepare(`INSERT INTO tasks (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`)
  const toValues = readColumns(columns)
  return (task) => {
    const text = toInputText(task.details)
    const hasLargeInput = isLarge(text)
    const { metadata, input } = hasLargeInput ? { metadata: null, input: null } : text
    const number = Number(insert.run(...toValues(task), metadata, input).lastInsertRowid)
    if (hasLargeInput) largeInputs.save(number, text)
    return { number, details: task.details, course: task.course, state: task.state, hasLargeInput }
  }
}

function prepareUpdate(prepare: Prepare, columns: TaskColumns): (task: StoredTask) => void {
  const set = Object.keys(columns).map((name) => `${name} = ?`)
  const update = prepare(`UPDATE tasks SET ${set.join(", ")} WHERE number = ?`)
  const toValues = readColumns(columns)
  return (task) => void update.run(...toValues(task), task.number)
}

function readColumns(columns: TaskColumns): (task: NewTask) => (string | number | null)[] {
  const reads = Object.values(columns)
  return (task) => {
    const state = toStateColumns(task.state)
    const isTurn = task.details.kind === "turn"
    const hasUnusedResult = isTerminal(task.state.status) && !isTurn
    const written: WrittenTask = { task, state, hasUnusedResult, usedAt: isTurn ? state.endedAt : null }
    return reads.map((read) => read(written))
  }
}

type TaskFinder = Pick<TaskTable, "find" | "findByIdempotencyKey" | "findByAskingStep" | "ofSession" | "below">

const NO_INPUT = { input: "null", metadata: "{}" }

function createTaskFinder(prepare: Prepare, largeInputs: LargeInputTable): TaskFinder {
  const prepareWhere = (condition: string): Statement<TaskRow> =>
    prepare(`SELECT ${SUMMARY_COLUMNS}, patch, metadata, input FROM tasks WHERE ${condition}`)
  const byId = prepareWhere("id = ?")
  const byIdempotencyKey = prepareWhere("workspace = ? AND idempotency_key = ?")
  const byAskingStep = prepareWhere("asked_by_task = ? AND asked_by_run = ? AND asked_by_key = ?")
  const bySession = prepareWhere("session = ?")
  const below = prepareWhere(`number IN (${toBelow("parent_task = ?")})`)

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
    below: (id) => below.all(id).map(read),
  }
}

/** Longer inputs lie in a row of their own, so that a change of status does not write them again. */
const INLINE_CHARACTERS = 1_000

/** True if the inputs lie in a row of their own instead of the task's. */
function isLarge({ input, metadata }: InputText): boolean {
  return input.length + metadata.length > INLINE_CHARACTERS
}

type LargeInputTable = ReturnType<typeof createLargeInputTable>

function createLargeInputTable(prepare: Prepare) {
  const find = prepare<InputText>("SELECT input, metadata FROM large_inputs WHERE task = ?")
  const save = prepare("INSERT OR REPLACE INTO large_inputs (input, metadata, task) VALUES (?, ?, ?)")
  const remove = prepare("DELETE FROM large_inputs WHERE task = ?")
  return {
    find: (task: number) => find.get(task),
    save: (task: number, { input, metadata }: InputText) => void save.run(input, metadata, task),
    remove: (task: number) => void remove.run(task),
  }
}

interface TaskCache {
  readonly tasks: TaskTable
  /** Writes the facts that were held back: a task that gets several in one transaction is written once. */
  saveFacts(): void
  /** Called when the changes of the writer, or of the whole transaction, were rolled back. */
  forgetFacts(): void
}

/** Remembers live tasks, so that changing one need not read it. */
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

  /** Writes the facts that were held back before a lookup that is not by id, since such a lookup reads the table. */
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
    below: whole(table.below),
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
