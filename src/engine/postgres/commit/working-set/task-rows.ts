import { MeanwhileError } from "../../../../base/error.ts"
import type { TaskId, WorkspaceId } from "../../../../task/id.ts"
import { isTerminal } from "../../../../task/lifecycle.ts"
import type { StoredTask, TaskTable } from "../../../rules/tables.ts"
import { type Changed, createMemory, createNumbers, type Numbers, type UndoLog } from "./memory.ts"
import { missing, toKey, toStepKey } from "./wants.ts"
import type { AskingStep } from "../../../../task/record.ts"

/** A task, and whether its result was used. */
export interface TaskEntry {
  readonly task: StoredTask
  readonly hasUnusedResult: boolean
  readonly usedAt: number | null
}

export interface TaskRows {
  readonly table: TaskTable
  readonly numbers: Numbers
  readonly index: TaskIndex
  learn(entry: TaskEntry): void
  /** Records that there is no task of this id, unless one was learned. */
  learnId(id: TaskId): void
  /** Records that there is no task of this number, unless one was learned. */
  learnNumber(number: number): void
  /** Records that all tasks below it are learned. */
  learnBelow(id: TaskId): void
  /** Records that all tasks of the session are learned. */
  learnSession(session: string): void
  isKnown(number: number): boolean
  isIdKnown(id: TaskId): boolean
  /** True if this transaction has made the task: nothing in the store belongs to it yet. */
  isNew(number: number): boolean
  idOf(number: number): TaskId
  /** The task as it is stored. */
  learned(id: TaskId): StoredTask | undefined
  changes(): readonly Changed<TaskEntry>[]
}

export function createTaskRows(undo: UndoLog): TaskRows {
  const entries = createMemory<TaskEntry>(undo)
  const index = createTaskIndex(undo)
  const sessions = createMemory<true>(undo)
  const families = createMemory<true>(undo)
  const numbers = createNumbers("task_numbers", undo)
  const ids = new Map<number, TaskId>()
  const absentNumbers = new Set<number>()

  function find(id: TaskId): StoredTask | undefined {
    if (!entries.isKnown(id)) throw missing("task", id)
    return entries.get(id)?.task
  }

  function idOf(number: number): TaskId {
    const id = ids.get(number)
    if (id === undefined) throw missing("taskNumber", number)
    return id
  }

  function entryOf(task: StoredTask): TaskEntry {
    const entry = entries.get(task.details.id)
    if (!entry) throw missing("task", task.details.id)
    return entry
  }

  /** Saves the whole task: the rules pass on a task as they found it, with what they changed. */
  function save(task: StoredTask): void {
    entries.set(task.details.id, { ...entryOf(task), task })
  }

  const table: TaskTable = {
    find,
    findByIdempotencyKey(workspace, key) {
      const id = index.byIdempotencyKey({ workspace, key })
      return id && find(id)
    },
    findByAskingStep(step) {
      const id = index.byAskingStep(step)
      return id && find(id)
    },
    ofSession(session) {
      if (!sessions.isKnown(session)) throw missing("tasksOfSession", session)
      const found = entries.values().map(({ task }) => task)
      return found.filter(({ details }) => details.session === session).toSorted((a, b) => a.number - b.number)
    },
    below(id) {
      const isMade = entries.get(id) !== undefined && entries.learned(id) === undefined
      if (!families.isKnown(id) && !isMade) throw missing("below", id)
      return findBelow(entries.values(), id)
    },
    insert({ details, course, state }) {
      if (entries.get(details.id)) throw existsAlready("task", details.id)
      const number = numbers.take()
      const task: StoredTask = { number, details, course, state, hasLargeInput: false }
      ids.set(number, details.id)
      entries.set(details.id, { task, hasUnusedResult: false, usedAt: null })
      index.add(task)
      return task
    },
    saveRun(task) {
      const isTurn = task.details.kind === "turn"
      const endedAt = "endedAt" in task.state ? task.state.endedAt : null
      const hasUnusedResult = isTerminal(task.state.status) && !isTurn
      entries.set(task.details.id, { task, hasUnusedResult, usedAt: isTurn ? endedAt : null })
    },
    saveFacts: save,
    saveDetails: save,
    saveInput: save,
    markResultUsed(number, at) {
      if (absentNumbers.has(number)) return
      const id = idOf(number)
      const entry = entries.get(id)
      if (entry) entries.set(id, { ...entry, hasUnusedResult: false, usedAt: at })
    },
    remove(task) {
      entries.set(task.details.id, undefined)
      index.remove(task)
    },
  }

  return {
    table,
    numbers,
    index,
    learn(entry) {
      const { number, details } = entry.task
      ids.set(number, details.id)
      entries.learn(details.id, entry)
      index.learn(entry.task)
    },
    learnId(id) {
      if (!entries.isKnown(id)) entries.learn(id, undefined)
    },
    learnNumber(number) {
      if (!ids.has(number)) absentNumbers.add(number)
    },
    learnBelow: (id) => families.learn(id, true),
    learnSession: (session) => sessions.learn(session, true),
    isKnown: (number) => ids.has(number),
    isIdKnown: entries.isKnown,
    isNew: (number) => entries.learned(idOf(number))?.task.number !== number,
    idOf,
    learned: (id) => entries.learned(id)?.task,
    changes: entries.changes,
  }
}

/** As `toBelow` in `engine/rules/rows/task-row.ts` selects them, after the changes of this transaction. */
function findBelow(entries: readonly TaskEntry[], root: TaskId): readonly StoredTask[] {
  const childrenOf = Map.groupBy(entries, ({ task }) => task.details.parentTask)
  const found: StoredTask[] = []
  const waiting: TaskId[] = [root]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    for (const { task, hasUnusedResult } of childrenOf.get(id) ?? []) {
      const leadsOn = task.details.kind === "turn" || !isTerminal(task.state.status)
      if (leadsOn || hasUnusedResult) found.push(task)
      if (leadsOn && task.details.lifetime !== "forever") waiting.push(task.details.id)
    }
  }
  return found.toSorted((one, other) => one.number - other.number)
}

export function existsAlready(what: string, id: string): MeanwhileError {
  const text = `There is a ${what} ${id} already. Give the new one an id of its own.`
  return new MeanwhileError("invalid_input", text, { id })
}

interface IdempotencyKey {
  readonly workspace: WorkspaceId
  readonly key: string
}

/** Which task has an idempotency key, and which a step has asked for. */
interface TaskIndex {
  byIdempotencyKey(key: IdempotencyKey): TaskId | undefined
  byAskingStep(step: AskingStep): TaskId | undefined
  add(task: StoredTask): void
  remove(task: StoredTask): void
  learn(task: StoredTask): void
  /** Records that no task has this key, unless one was learned. */
  learnKey(key: IdempotencyKey): void
  /** Records that this step has asked for no task, unless one was learned. */
  learnStep(step: AskingStep): void
}

function createTaskIndex(undo: UndoLog): TaskIndex {
  const keys = createMemory<TaskId>(undo)
  const steps = createMemory<TaskId>(undo)

  function set({ details }: StoredTask, id: TaskId | undefined): void {
    const { workspace, idempotencyKey: key, askedBy } = details
    if (key !== null) keys.set(toKey([workspace, key]), id)
    if (askedBy) steps.set(toStepKey(askedBy), id)
  }

  return {
    byIdempotencyKey({ workspace, key }) {
      const place = toKey([workspace, key])
      if (!keys.isKnown(place)) throw missing("idempotencyKey", { workspace, key })
      return keys.get(place)
    },
    byAskingStep(step) {
      const place = toStepKey(step)
      if (!steps.isKnown(place)) throw missing("askingStep", step)
      return steps.get(place)
    },
    add: (task) => set(task, task.details.id),
    remove: (task) => set(task, undefined),
    learn({ details }) {
      const { id, workspace, idempotencyKey: key, askedBy } = details
      if (key !== null) keys.learn(toKey([workspace, key]), id)
      if (askedBy) steps.learn(toStepKey(askedBy), id)
    },
    learnKey({ workspace, key }) {
      const place = toKey([workspace, key])
      if (!keys.isKnown(place)) keys.learn(place, undefined)
    },
    learnStep(step) {
      const place = toStepKey(step)
      if (!steps.isKnown(place)) steps.learn(place, undefined)
    },
  }
}
