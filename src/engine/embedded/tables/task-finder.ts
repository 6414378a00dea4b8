import type { DatabaseSync } from "node:sqlite"
import { prepare, type Statement } from "../statement.ts"
import { parseInput } from "../../rules/rows/input-text.ts"
import type { LargeInputTable } from "./input-table.ts"
import { SUMMARY_COLUMNS, type TaskRow, toStoredTask } from "../../rules/rows/task-row.ts"
import type { StoredTask } from "../../rules/stored-task.ts"
import type { TaskTable } from "../../rules/tables.ts"

export type TaskFinder = Pick<TaskTable, "find" | "findByIdempotencyKey" | "findByAskingStep" | "ofSession">

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
