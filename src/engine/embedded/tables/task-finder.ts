import type { DatabaseSync } from "node:sqlite"
import type { SessionId, TaskId, WorkspaceId } from "../../../task/id.ts"
import type { AskingStep } from "../../../task/record.ts"
import { prepare, type Statement } from "../statement.ts"
import { type LargeInputTable, parseInput } from "./input-table.ts"
import { type StoredTask, SUMMARY_COLUMNS, type TaskRow, toStoredTask } from "./task-row.ts"

export interface TaskFinder {
  find(id: TaskId): StoredTask | undefined
  findByIdempotencyKey(workspace: WorkspaceId, key: string): StoredTask | undefined
  findByAskingStep(step: AskingStep): StoredTask | undefined
  ofSession(session: SessionId): readonly StoredTask[]
}

const NO_INPUT = { input: "null", metadata: "{}" }

export function createTaskFinder(database: DatabaseSync, largeInputs: LargeInputTable): TaskFinder {
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
