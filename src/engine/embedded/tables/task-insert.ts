import type { DatabaseSync } from "node:sqlite"
import { prepare } from "../sqlite/statement.ts"
import { toInputText, type InputText, toStateColumns } from "../../rules/rows/task-row.ts"
import type { NewTask, StoredTask } from "../../rules/stored-task.ts"

const INSERT = `INSERT INTO tasks (id, status, run, fence, last_sequence, worker, available_at, queued_at, started_at,
  ran_ms, has_unused_result, priority, workspace, session, kind, plugin, tool, model, input_held_by, parent_task,
  parent_message, batch, group_id, lifetime, notify, depth, trace_id, idempotency_key, asked_by_task, asked_by_run,
  asked_by_key, timeout_ms, limit_tokens, limit_cost_micros, limit_output_bytes, created_at, tokens, cost_micros,
  resume_count, title, state, metadata, input, folder)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0,
  0, ?, ?, ?, ?, ?)`

export function createTaskInsert(database: DatabaseSync, largeInputs: LargeInputTable): (task: NewTask) => StoredTask {
  const insert = prepare(database, INSERT)
  return ({ details, course, state }) => {
    const { limits, askedBy } = details
    const { worker, availableAt, rest } = toStateColumns(state)
    const text = toInputText(details)
    const hasLargeInput = isLarge(text)
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
      hasLargeInput ? null : text.metadata,
      hasLargeInput ? null : text.input,
      details.folder,
    )
    const number = Number(lastInsertRowid)
    if (hasLargeInput) largeInputs.save(number, text)
    return { number, details, course, state, hasLargeInput }
  }
}

/** Longer inputs lie apart, so that a change of status does not write them again. */
const INLINE_CHARACTERS = 1_000

/** True if the inputs lie in a row of their own instead of the task's. */
export function isLarge({ input, metadata }: InputText): boolean {
  return input.length + metadata.length > INLINE_CHARACTERS
}

export interface LargeInputTable {
  find(task: number): InputText | undefined
  save(task: number, text: InputText): void
  remove(task: number): void
}

export function createLargeInputTable(database: DatabaseSync): LargeInputTable {
  const find = prepare<InputText>(database, "SELECT input, metadata FROM large_inputs WHERE task = ?")
  const save = prepare(database, "INSERT OR REPLACE INTO large_inputs (input, metadata, task) VALUES (?, ?, ?)")
  const remove = prepare(database, "DELETE FROM large_inputs WHERE task = ?")
  return {
    find: (task) => find.get(task),
    save: (task, { input, metadata }) => void save.run(input, metadata, task),
    remove: (task) => void remove.run(task),
  }
}
