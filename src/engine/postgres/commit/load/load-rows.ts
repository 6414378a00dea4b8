import type { Query } from "../../connection/database.ts"
import { lockOthers, wantGroupsOfTasks } from "./lock-others.ts"
import { readNow, NOW } from "../../connection/server-time.ts"
import { ifWanted, type Parameter, toWanted, toWantedSteps } from "./questions.ts"
import { readDependents } from "./read-dependents.ts"
import { want, type WantedKind, type Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import { parseInput, SUMMARY_COLUMNS, type TaskRow, toBelow, toStoredTask } from "../../../rules/rows/task-row.ts"

/**
 * Locks and loads the wanted rows: first the rows that guard others, whose locks every process takes in the same order
 * of tables and rows; then the rows that belong to them. Each part is one statement, which sees the rows as they are
 * once all earlier locks are held. The statements are sent together, unless one needs the answer of another. Returns
 * the time at which the locks are held: the server's, unless one is given.
 */
export async function loadRows(query: Query, wants: Wants, set: WorkingSet, givenNow?: number): Promise<number> {
  const lockingTasks = lockTasks(query, wants, set)
  if (OF_TASKS.some((kind) => wants.rows[kind].size > 0)) {
    const { locked } = await lockingTasks
    if (wants.rows.below.size > 0) for (const { id } of locked) want(wants, "groupOfTask", id)
    wantGroupsOfTasks(wants, set)
  }
  const lockingOthers = lockOthers(query, wants, set)
  const reading = readDependents(query, wants, set)
  const [ofTasks, ofOthers] = await Promise.all([lockingTasks, lockingOthers, reading])
  return givenNow ?? ofOthers ?? ofTasks.locked.at(-1)?.now ?? readNow(query)
}

/** The kinds that are found by the number or the group of a task, so that tasks have to be loaded first. */
const OF_TASKS: readonly WantedKind[] = [
  "groupOfTask",
  "below",
  "noticesOfTask",
  "claimsOfStep",
  "wait",
  "step",
  "lastCompletion",
  "runsOfTask",
]

/** A locked row of a task, and the time at which it was locked. */
type LockedTask = TaskRow & {
  readonly has_unused_result: number
  readonly used_at: number | null
  readonly now: number
}

const LOCKED_COLUMNS = `${SUMMARY_COLUMNS}, patch, metadata, input, has_unused_result, used_at`

/**
 * Locks tasks. They come as rows of their own, which are read faster than JSON, because they are what most groups lock.
 * The statement is sent at once, so that those of other tables come after it.
 */
async function lockTasks(
  query: Query,
  wants: Wants,
  set: WorkingSet,
): Promise<{ readonly locked: readonly LockedTask[] }> {
  const values: unknown[] = []
  const condition = toCondition(wants, (value) => `$${values.push(value)}`)
  const locked = condition === undefined ? [] : await query<LockedTask>(toStatement(condition), values)
  learnTasks(locked, wants, set)
  return { locked }
}

/** The time of a row is taken once its lock is held. */
function toStatement(condition: string): string {
  return `WITH locked AS MATERIALIZED (SELECT ${LOCKED_COLUMNS} FROM tasks WHERE ${condition} ORDER BY number FOR UPDATE)
    SELECT *, ${NOW} AS now FROM locked`
}

function toCondition({ rows }: Wants, parameter: Parameter): string | undefined {
  const [ofIds] = ifWanted(rows.task.values(), (ids) => `id = ANY(${parameter(ids)}::text[])`)
  const others = toOtherSelections(rows, parameter)
  if (others.length === 0) return ofIds
  const selections = [...(ofIds === undefined ? [] : [`SELECT number FROM tasks WHERE ${ofIds}`]), ...others]
  return `number = ANY(ARRAY(${selections.join(" UNION ALL ")}))`
}

/** Selections of the numbers of tasks that are not asked for by their ids. */
function toOtherSelections(rows: Wants["rows"], parameter: Parameter): readonly string[] {
  return [
    ...ifWanted(rows.taskNumber.values(), (numbers) => `SELECT unnest(${parameter(numbers)}::bigint[])`),
    ...ifWanted(
      rows.idempotencyKey.values(),
      (keys) => `SELECT number FROM ${toWanted(parameter, keys, { workspace: "text", key: "text" })}
        JOIN tasks ON tasks.workspace = wanted.workspace AND idempotency_key = wanted.key`,
    ),
    ...ifWanted(
      rows.askingStep.values(),
      (steps) => `SELECT number FROM ${toWantedSteps(parameter, steps)}
        JOIN tasks ON asked_by_task = wanted.task AND asked_by_run = wanted.run AND asked_by_key = wanted.key`,
    ),
    ...ifWanted(
      rows.tasksOfSession.values(),
      (sessions) => `SELECT number FROM tasks WHERE session = ANY(${parameter(sessions)}::text[])`,
    ),
    ...ifWanted(rows.above.values(), (ids) => {
      const given = parameter(ids)
      return `SELECT number FROM tasks WHERE id = ANY(${given}::text[]) UNION ALL
        SELECT above.number FROM tasks AS turn JOIN tasks AS above ON above.id = turn.parent_task
        WHERE turn.id = ANY(${given}::text[]) AND turn.kind = 'turn'`
    }),
    ...ifWanted(rows.below.values(), (ids) => `(${toBelow(`parent_task = ANY(${parameter(ids)}::text[])`)})`),
    ...ifWanted(
      rows.claimsOfStep.values(),
      (steps) => `SELECT notices.task FROM ${toWantedSteps(parameter, steps)} JOIN notices
        ON claimed_by_task = wanted.task AND claimed_by_run = wanted.run AND claimed_by_key = wanted.key
        WHERE settled_at IS NULL`,
    ),
    ...ifWanted(rows.wait.values(), (waits) => `SELECT task FROM waits WHERE id = ANY(${parameter(waits)}::text[])`),
  ]
}

function learnTasks(locked: readonly LockedTask[], { rows }: Wants, { tasks }: WorkingSet): void {
  for (const row of locked) {
    const input = parseInput({ input: row.input ?? "null", metadata: row.metadata ?? "{}" })
    const task = toStoredTask(row, input, false)
    tasks.learn({ task, hasUnusedResult: row.has_unused_result === 1, usedAt: row.used_at })
  }
  for (const id of rows.task.values()) tasks.learnId(id)
  for (const id of rows.above.values()) tasks.learnId(id)
  for (const number of rows.taskNumber.values()) tasks.learnNumber(number)
  for (const key of rows.idempotencyKey.values()) tasks.index.learnKey(key)
  for (const step of rows.askingStep.values()) tasks.index.learnStep(step)
  for (const session of rows.tasksOfSession.values()) tasks.learnSession(session)
}
