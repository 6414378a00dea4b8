import type { DatabaseSync } from "node:sqlite"
import type { JsonObject, JsonValue } from "../../../base/json.ts"
import type { AskingStep } from "../../../task/record.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../../task/id.ts"
import { isTerminal } from "../../../task/lifecycle.ts"
import { prepare } from "../statement.ts"
import { toStateColumns } from "./state-columns.ts"
import { type NewTask, type StoredTask, SUMMARY_COLUMNS, type TaskRow, toStoredTask } from "./task-row.ts"

export interface TaskTable {
  find(id: TaskId): StoredTask | undefined
  findByNumber(number: number): StoredTask | undefined
  findByIdempotencyKey(workspace: WorkspaceId, key: string): StoredTask | undefined
  findByAskingStep(step: AskingStep): StoredTask | undefined
  ofSession(session: SessionId): readonly StoredTask[]
  insert(task: NewTask): StoredTask
  /** Writes what a lifecycle event moves. A run that ended so has a result nobody used yet, unless it is a turn. */
  saveRun(task: StoredTask): void
  /** Writes what facts move, and the patch. */
  saveFacts(task: StoredTask): void
  /** Writes the few details that may change: priority, session, group, input holder. */
  saveDetails(task: StoredTask): void
  saveInput(task: StoredTask): void
  markResultUsed(number: number, at: number): void
  remove(task: StoredTask): void
}

/** Longer inputs lie apart, so that a change of status does not write them again. */
const INLINE_CHARACTERS = 1_000

const INSERT = `INSERT INTO tasks (id, status, run, fence, last_sequence, worker, available_at, queued_at, started_at,
  ran_ms, has_unused_result, priority, workspace, session, kind, plugin, tool, model, input_held_by, parent_task,
  parent_message, batch, group_id, lifetime, notify, depth, trace_id, idempotency_key, asked_by_task, asked_by_run,
  asked_by_key, timeout_ms, limit_tokens, limit_cost_micros, limit_output_bytes, created_at, tokens, cost_micros,
  resume_count, title, state, metadata, input)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0,
  0, ?, ?, ?, ?)`

const SAVE_RUN = `UPDATE tasks SET status = ?, run = ?, fence = ?, last_sequence = ?, worker = ?, available_at = ?,
  queued_at = ?, started_at = ?, ended_at = ?, ran_ms = ?, has_unused_result = ?, used_at = ?, state = ?, patch = ? WHERE number = ?`

const SAVE_FACTS = `UPDATE tasks SET last_sequence = ?, progress = ?, tokens = ?, cost_micros = ?, resume_count = ?,
  retrieved_at = ?, stripped_at = ?, patch = ? WHERE number = ?`

export function createTaskTable(database: DatabaseSync): TaskTable {
  const columns = `${SUMMARY_COLUMNS}, patch, metadata, input`
  const byId = prepare<TaskRow>(database, `SELECT ${columns} FROM tasks WHERE id = ?`)
  const byNumber = prepare<TaskRow>(database, `SELECT ${columns} FROM tasks WHERE number = ?`)
  const byKey = prepare<TaskRow>(database, `SELECT ${columns} FROM tasks WHERE workspace = ? AND idempotency_key = ?`)
  const byAskingStep = prepare<TaskRow>(
    database,
    `SELECT ${columns} FROM tasks WHERE asked_by_task = ? AND asked_by_run = ? AND asked_by_key = ?`,
  )
  const bySession = prepare<TaskRow>(database, `SELECT ${columns} FROM tasks WHERE session = ?`)
  const insert = prepare(database, INSERT)
  const saveRun = prepare(database, SAVE_RUN)
  const saveFacts = prepare(database, SAVE_FACTS)
  const saveDetails = prepare(
    database,
    "UPDATE tasks SET priority = ?, session = ?, group_id = ?, input_held_by = ? WHERE number = ?",
  )
  const saveInput = prepare(database, "UPDATE tasks SET input = ?, metadata = ? WHERE number = ?")
  const largeInput = prepare<{ input: string; metadata: string }>(
    database,
    "SELECT input, metadata FROM large_inputs WHERE task = ?",
  )
  const saveLargeInput = prepare(
    database,
    "INSERT OR REPLACE INTO large_inputs (input, metadata, task) VALUES (?, ?, ?)",
  )
  const removeLargeInput = prepare(database, "DELETE FROM large_inputs WHERE task = ?")
  const markUsed = prepare(database, "UPDATE tasks SET has_unused_result = 0, used_at = ? WHERE number = ?")
  const remove = prepare(database, "DELETE FROM tasks WHERE number = ?")

  const find = (row: TaskRow | undefined): StoredTask | undefined => row && read(row)

  function read(row: TaskRow): StoredTask {
    const { input, metadata } = row.input === null ? (largeInput.get(row.number) ?? row) : row
    return toStoredTask(row, JSON.parse(input ?? "null") as JsonValue, JSON.parse(metadata ?? "{}") as JsonObject)
  }

  return {
    find: (id) => find(byId.get(id)),
    findByNumber: (number) => find(byNumber.get(number)),
    findByIdempotencyKey: (workspace, key) => find(byKey.get(workspace, key)),
    findByAskingStep: ({ taskId, run, key }) => find(byAskingStep.get(taskId, run, key)),
    ofSession: (session) => bySession.all(session).map(read),
    insert(task) {
      const { details, course, state } = task
      const { limits, askedBy } = details
      const { worker, availableAt, rest } = toStateColumns(state)
      const input = JSON.stringify(details.input)
      const metadata = JSON.stringify(details.metadata)
      const isLarge = input.length + metadata.length > INLINE_CHARACTERS
      const { lastInsertRowid } = insert.run(
        details.id,
        state.status,
        course.run,
        course.fence,
        course.lastSequence,
        worker,
        availableAt,
        course.queuedAt,
        course.startedAt,
        course.ranMs,
        details.priority,
        details.workspace,
        details.session,
        details.kind,
        details.plugin,
        details.tool,
        details.model,
        details.inputHeldBy,
        details.parentTask,
        details.parentMessage,
        details.batch,
        details.group,
        details.lifetime,
        details.notify,
        details.depth,
        details.traceId,
        details.idempotencyKey,
        askedBy && askedBy.taskId,
        askedBy && askedBy.run,
        askedBy && askedBy.key,
        limits.timeoutMs,
        limits.tokens,
        limits.costMicros,
        limits.outputBytes,
        course.createdAt,
        details.title,
        rest,
        isLarge ? null : metadata,
        isLarge ? null : input,
      )
      const number = Number(lastInsertRowid)
      if (isLarge) saveLargeInput.run(input, metadata, number)
      return { number, details, course, state, hasLargeInput: isLarge }
    },
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
      saveDetails.run(details.priority, details.session, details.group, details.inputHeldBy, number)
    },
    saveInput({ number, details }) {
      const input = JSON.stringify(details.input)
      const metadata = JSON.stringify(details.metadata)
      const isLarge = input.length + metadata.length > INLINE_CHARACTERS
      if (isLarge) saveLargeInput.run(input, metadata, number)
      else removeLargeInput.run(number)
      saveInput.run(isLarge ? null : input, isLarge ? null : metadata, number)
    },
    markResultUsed: (number, at) => void markUsed.run(at, number),
    remove({ number }) {
      removeLargeInput.run(number)
      remove.run(number)
    },
  }
}
