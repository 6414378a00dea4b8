import type { TaskId } from "../../../task/id.ts"
import { parseInput } from "../../rules/rows/input-text.ts"
import { SUMMARY_COLUMNS, toStoredTask } from "../../rules/rows/task-row.ts"
import { storableOf } from "../storable.ts"
import type { Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { LockedRows } from "./answers.ts"
import type { Parameter, Questions } from "./questions.ts"

export function askForTasks(questions: Questions<LockedRows>, { rows }: Wants): void {
  const conditions: ((parameter: Parameter) => string)[] = []
  const ids = storableOf(rows.task)
  const ofId = (parameter: Parameter): string => `SELECT number FROM tasks WHERE id = ANY(${parameter(ids)}::text[])`
  if (ids.length > 0) conditions.push(ofId)
  const numbers = storableOf(rows.taskNumber)
  if (numbers.length > 0) conditions.push((parameter) => `SELECT unnest(${parameter(numbers)}::bigint[])`)
  const keys = storableOf(rows.idempotencyKey)
  if (keys.length > 0)
    conditions.push((parameter) => {
      const workspaces = parameter(keys.map(({ workspace }) => workspace))
      const texts = parameter(keys.map(({ key }) => key))
      return `SELECT number FROM unnest(${workspaces}::text[], ${texts}::text[]) AS wanted (workspace, key)
        JOIN tasks ON tasks.workspace = wanted.workspace AND idempotency_key = wanted.key`
    })
  const asking = storableOf(rows.askingStep)
  if (asking.length > 0)
    conditions.push(
      (parameter) => `SELECT number FROM ${unnestSteps(parameter, asking)}
        JOIN tasks ON asked_by_task = wanted.task AND asked_by_run = wanted.run AND asked_by_key = wanted.key`,
    )
  const sessions = storableOf(rows.tasksOfSession)
  if (sessions.length > 0)
    conditions.push((parameter) => `SELECT number FROM tasks WHERE session = ANY(${parameter(sessions)}::text[])`)
  const claimants = storableOf(rows.claimsOfStep)
  if (claimants.length > 0)
    conditions.push(
      (parameter) => `SELECT notices.task FROM ${unnestSteps(parameter, claimants)} JOIN notices
        ON claimed_by_task = wanted.task AND claimed_by_run = wanted.run AND claimed_by_key = wanted.key
        WHERE settled_at IS NULL`,
    )
  const waits = storableOf(rows.wait)
  if (waits.length > 0)
    conditions.push((parameter) => `SELECT task FROM waits WHERE id = ANY(${parameter(waits)}::text[])`)
  if (conditions.length === 0) return
  const isById = conditions.length === 1 && ids.length > 0
  questions.define("locked", (parameter) => {
    const condition = isById
      ? `id = ANY(${parameter(ids)}::text[])`
      : `number = ANY(ARRAY(${conditions.map((toSql) => toSql(parameter)).join(" UNION ALL ")}))`
    return `SELECT ${SUMMARY_COLUMNS}, patch, metadata, input, has_unused_result, used_at
      FROM tasks WHERE ${condition} ORDER BY number FOR UPDATE`
  })
  questions.ask("tasks", () => "SELECT * FROM locked")
}

export function learnTasks(answers: Partial<LockedRows>, { rows }: Wants, { tasks }: WorkingSet): void {
  for (const row of answers.tasks ?? []) {
    const input = parseInput({ input: row.input ?? "null", metadata: row.metadata ?? "{}" })
    const task = toStoredTask(row, input, false)
    tasks.learn({ task, hasUnusedResult: row.has_unused_result === 1, usedAt: row.used_at })
  }
  for (const id of rows.task.values()) tasks.learnId(id)
  for (const number of rows.taskNumber.values()) tasks.learnNumber(number)
  for (const key of rows.idempotencyKey.values()) tasks.index.learnKey(key)
  for (const step of rows.askingStep.values()) tasks.index.learnStep(step)
  for (const session of rows.tasksOfSession.values()) tasks.learnSession(session)
}

export function unnestSteps(
  parameter: Parameter,
  steps: readonly { readonly taskId: TaskId; readonly run: number; readonly key: string }[],
): string {
  const tasks = parameter(steps.map(({ taskId }) => taskId))
  const runs = parameter(steps.map(({ run }) => run))
  const keys = parameter(steps.map(({ key }) => key))
  return `unnest(${tasks}::text[], ${runs}::integer[], ${keys}::text[]) AS wanted (task, run, key)`
}
