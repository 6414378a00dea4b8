import type { GroupId, TaskId } from "../../../../task/id.ts"
import type { TaskRecord } from "../../../../task/record.ts"
import { SELECT_NOTICES, toStoredNotice } from "../../../rules/rows/journal-row.ts"
import { toStep } from "../../../rules/rows/step-row.ts"
import { toWaitRecord } from "../../../rules/rows/wait-row.ts"
import type { Query } from "../../connection/database.ts"
import { isStorable, storableOf } from "../../schema/storable.ts"
import { toStepKey, type Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { GroupArrival } from "../../../../task/group.ts"
import type { NoticeRow } from "../../../rules/rows/journal-row.ts"
import type { StepRow } from "../../../rules/rows/step-row.ts"
import type { WaitRow } from "../../../rules/rows/wait-row.ts"
import { createQuestions, type Parameter, type Questions, unnestSteps } from "./lock-others.ts"

/** The rows that belong to locked rows, by the name under which they are asked for. */
export interface DependentRows {
  readonly notices: readonly NoticeRow[]
  readonly claims: readonly NoticeRow[]
  readonly steps: readonly (StepRow & {
    readonly task: number
    readonly run: number
    readonly first_sequence: number
  })[]
  readonly completions: readonly { readonly task: number; readonly run: number; readonly last: number | null }[]
  readonly runs: readonly { readonly task: number; readonly record: string }[]
  readonly waits: readonly (WaitRow & { readonly task: number })[]
  readonly arrivals: readonly (Omit<GroupArrival, "taskId"> & {
    readonly group_id: GroupId
    readonly task: number
    readonly task_id: TaskId
  })[]
  readonly arrival_counts: readonly { readonly group_id: GroupId; readonly count: number }[]
}

/**
 * Reads what belongs to rows that are locked, and learns it: in one statement, begun after the locks are held. What
 * belongs to a task that was not locked with it is not learned; the rules ask for it again.
 */
export async function readDependents(query: Query, wants: Wants, set: WorkingSet): Promise<void> {
  const questions = createQuestions<DependentRows>()
  const owners = findOwners(wants, set)
  askForNotices(questions, wants, owners)
  askForSteps(questions, owners)
  if (owners.runs.length > 0)
    questions.ask(
      "runs",
      (parameter) => `SELECT task, record FROM runs WHERE task = ANY(${parameter(owners.runs)}::bigint[])`,
    )
  const waits = storableOf(wants.rows.wait)
  if (waits.length > 0)
    questions.ask("waits", (parameter) => `SELECT * FROM waits WHERE id = ANY(${parameter(waits)}::text[])`)
  askForArrivals(questions, owners)
  const answers = questions.isEmpty() ? {} : await questions.answer(query)
  learnNotices(answers, wants, set)
  learnSteps(answers, owners, set)
  learnRuns(answers, owners, set)
  learnWaits(answers, wants, set)
  learnArrivals(answers, owners, set)
}

interface StepPlace {
  readonly task: number
  readonly run: number
  readonly key: string
}

/**
 * The wanted rows, by the numbers of the tasks that were found. Rows of missing tasks are not asked for. A key that
 * PostgreSQL cannot hold is not asked for either, and learned as absent.
 */
interface Owners {
  readonly notices: readonly number[]
  readonly runs: readonly number[]
  readonly steps: readonly StepPlace[]
  readonly completions: readonly Omit<StepPlace, "key">[]
  readonly arrivals: readonly GroupId[]
  readonly arrivalCounts: readonly GroupId[]
}

function findOwners({ rows }: Wants, { tasks }: WorkingSet): Owners {
  const numberOf = (id: TaskId): number[] => {
    const task = tasks.learned(id)
    return task ? [task.number] : []
  }
  return {
    notices: [...rows.noticesOfTask.values()].flatMap(numberOf),
    runs: [...rows.runsOfTask.values()].flatMap(numberOf),
    steps: [...rows.step.values()].flatMap(({ taskId, run, key }) =>
      numberOf(taskId).map((task) => ({ task, run, key })),
    ),
    completions: [...rows.lastCompletion.values()].flatMap(({ taskId, run }) =>
      numberOf(taskId).map((task) => ({ task, run })),
    ),
    arrivals: [...rows.arrivals.values()],
    arrivalCounts: [...rows.arrivalCount.values()],
  }
}

function askForNotices(questions: Questions<DependentRows>, { rows }: Wants, { notices }: Owners): void {
  if (notices.length > 0)
    questions.ask("notices", (parameter) => `${SELECT_NOTICES} WHERE task = ANY(${parameter(notices)}::bigint[])`)
  const claimants = storableOf(rows.claimsOfStep)
  if (claimants.length > 0)
    questions.ask(
      "claims",
      (
        parameter,
      ) => `${SELECT_NOTICES} WHERE settled_at IS NULL AND (claimed_by_task, claimed_by_run, claimed_by_key) IN
        (SELECT wanted.task, wanted.run, wanted.key FROM ${unnestSteps(parameter, claimants)})`,
    )
}

function learnNotices(answers: Partial<DependentRows>, { rows }: Wants, { tasks, notices }: WorkingSet): void {
  for (const row of answers.notices ?? []) notices.learn(toStoredNotice(row))
  for (const id of rows.noticesOfTask.values()) notices.learnTask(id)
  const unguarded = new Set<string>()
  for (const notice of (answers.claims ?? []).map(toStoredNotice)) {
    if (tasks.isKnown(notice.task)) notices.learn(notice)
    else if (notice.state === "claimed") unguarded.add(toStepKey(notice.claimedBy))
  }
  for (const step of rows.claimsOfStep.values()) if (!unguarded.has(toStepKey(step))) notices.learnClaims(step)
}

function askForSteps(questions: Questions<DependentRows>, owners: Owners): void {
  const { completions } = owners
  const steps = owners.steps.filter(isStorable)
  if (steps.length > 0)
    questions.ask("steps", (parameter) => {
      const keys = parameter(steps.map(({ key }) => key))
      return `SELECT steps.* FROM unnest(${places(parameter, steps)}, ${keys}::text[]) AS wanted (task, run, key)
        JOIN steps USING (task, run, key)`
    })
  if (completions.length > 0)
    questions.ask(
      "completions",
      (parameter) => `SELECT task, run, (SELECT max(completion) FROM steps WHERE completion IS NOT NULL
          AND steps.task = wanted.task AND steps.run = wanted.run) AS last
        FROM unnest(${places(parameter, completions)}) AS wanted (task, run)`,
    )
}

function places(parameter: Parameter, of: readonly Omit<StepPlace, "key">[]): string {
  const tasks = parameter(of.map(({ task }) => task))
  return `${tasks}::bigint[], ${parameter(of.map(({ run }) => run))}::integer[]`
}

function learnSteps(answers: Partial<DependentRows>, { steps }: Owners, set: WorkingSet): void {
  for (const { task, run, key } of steps) set.steps.learn(task, run, key, undefined)
  for (const row of answers.steps ?? []) {
    const { task, run, key, first_sequence: firstSequence } = row
    set.steps.learn(task, run, key, { task, step: toStep(set.tasks.idOf(task), run, row), firstSequence })
  }
  for (const { task, run, last } of answers.completions ?? []) set.steps.learnCompletion(task, run, last ?? 0)
}

function learnRuns(answers: Partial<DependentRows>, { runs }: Owners, set: WorkingSet): void {
  const rows = Map.groupBy(answers.runs ?? [], ({ task }) => task)
  for (const task of runs) {
    const records = (rows.get(task) ?? []).map(({ record }) => JSON.parse(record) as TaskRecord)
    set.runs.learn(task, records)
  }
}

function learnWaits(answers: Partial<DependentRows>, { rows }: Wants, { tasks, waits }: WorkingSet): void {
  const found = new Map((answers.waits ?? []).map((row) => [row.id, row]))
  for (const id of rows.wait.values()) {
    const row = found.get(id)
    if (!row) waits.learn(id, undefined)
    else if (tasks.isKnown(row.task)) waits.learn(id, { task: row.task, record: toWaitRecord(row) })
  }
}

function askForArrivals(questions: Questions<DependentRows>, owners: Owners): void {
  const arrivals = owners.arrivals.filter(isStorable)
  const arrivalCounts = owners.arrivalCounts.filter(isStorable)
  if (arrivals.length > 0)
    questions.ask(
      "arrivals",
      (parameter) => `SELECT * FROM arrivals WHERE group_id = ANY(${parameter(arrivals)}::text[])`,
    )
  if (arrivalCounts.length > 0)
    questions.ask(
      "arrival_counts",
      (parameter) => `SELECT group_id, count(*) AS count FROM arrivals
        WHERE group_id = ANY(${parameter(arrivalCounts)}::text[]) GROUP BY group_id`,
    )
}

function learnArrivals(
  answers: Partial<DependentRows>,
  { arrivals, arrivalCounts }: Owners,
  { groups }: WorkingSet,
): void {
  for (const id of arrivalCounts) groups.arrivals.learnCount(id, 0)
  for (const { group_id, count } of answers.arrival_counts ?? []) groups.arrivals.learnCount(group_id, count)
  const rows = Map.groupBy(answers.arrivals ?? [], ({ group_id }) => group_id)
  for (const group of arrivals) {
    const found = rows.get(group) ?? []
    groups.arrivals.learn(
      group,
      found.map(({ task, task_id: taskId, run, status }) => ({ group, task, arrival: { taskId, run, status } })),
    )
  }
}
