import type { GroupId, TaskId } from "../../../../task/id.ts"
import {
  type NoticeRow,
  SELECT_NOTICES,
  type StepRow,
  toStep,
  toStoredNotice,
} from "../../../rules/rows/journal-row.ts"
import { parseEarlierRun, toBelow } from "../../../rules/rows/task-row.ts"
import { toWaitRecord, type WaitRow } from "../../../rules/rows/wait-row.ts"
import type { Query } from "../../connection/database.ts"
import { toStepKey, type Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { GroupArrival } from "../../../../task/group.ts"
import { createQuestions, type Questions, toWanted, toWantedSteps } from "./questions.ts"

/**
 * Reads and learns the rows that belong to locked rows, in one statement that begins once the locks are held. A row
 * whose task is not locked is not learned, so that the rules ask for it again. Rows of missing tasks are not asked for.
 * Neither is a key that PostgreSQL cannot hold, which is learned as absent.
 */
export async function readDependents(query: Query, wants: Wants, set: WorkingSet): Promise<void> {
  const questions = createQuestions()
  askForBelow(questions, wants, set)
  askForNotices(questions, wants, set)
  askForSteps(questions, wants, set)
  askForRuns(questions, wants, set)
  askForWaits(questions, wants, set)
  askForArrivals(questions, wants, set)
  await questions.answer(query)
}

/** The numbers of the tasks that were found. */
function numbersOf({ tasks }: WorkingSet, ids: Iterable<TaskId>): readonly number[] {
  return [...ids].flatMap((id) => tasks.learned(id)?.number ?? [])
}

/** Asks again who is below: a statement that has waited for a lock does not see what the lock's holder has created. */
function askForBelow(questions: Questions, { rows }: Wants, { tasks }: WorkingSet): void {
  questions.ask(
    rows.below.values(),
    (ids) => toBelow(`parent_task = ANY(${questions.parameter(ids)}::text[])`),
    (found: readonly { readonly number: number }[]) => {
      if (found.some(({ number }) => !tasks.isKnown(number))) return
      for (const id of rows.below.values()) tasks.learnBelow(id)
    },
  )
}

function askForNotices(questions: Questions, { rows }: Wants, set: WorkingSet): void {
  const { tasks, notices } = set
  questions.ask(
    numbersOf(set, rows.noticesOfTask.values()),
    (numbers) => `${SELECT_NOTICES} WHERE task = ANY(${questions.parameter(numbers)}::bigint[])`,
    (found: readonly NoticeRow[]) => {
      for (const row of found) notices.learn(toStoredNotice(row))
      for (const id of rows.noticesOfTask.values()) if (tasks.learned(id)) notices.learnTask(id)
    },
  )
  questions.ask(
    rows.claimsOfStep.values(),
    (steps) => `${SELECT_NOTICES} WHERE settled_at IS NULL AND (claimed_by_task, claimed_by_run, claimed_by_key) IN
      (SELECT wanted.task, wanted.run, wanted.key FROM ${toWantedSteps(questions.parameter, steps)})`,
    (found: readonly NoticeRow[]) => {
      const unguarded = new Set<string>()
      for (const notice of found.map(toStoredNotice)) {
        if (tasks.isKnown(notice.task)) notices.learn(notice)
        else if (notice.state === "claimed") unguarded.add(toStepKey(notice.claimedBy))
      }
      for (const step of rows.claimsOfStep.values()) if (!unguarded.has(toStepKey(step))) notices.learnClaims(step)
    },
  )
}

type FoundStep = StepRow & { readonly task: number; readonly run: number; readonly first_sequence: number }

function askForSteps(questions: Questions, { rows }: Wants, set: WorkingSet): void {
  const { parameter } = questions
  const inNumbers = <Wanted extends { readonly taskId: TaskId }>(wanted: Iterable<Wanted>) =>
    [...wanted].flatMap((each) => numbersOf(set, [each.taskId]).map((task) => ({ ...each, task })))
  const steps = inNumbers(rows.step.values())
  questions.ask(
    steps,
    (wanted) => `SELECT steps.* FROM ${toWanted(parameter, wanted, { task: "bigint", run: "integer", key: "text" })}
      JOIN steps USING (task, run, key)`,
    (found: readonly FoundStep[]) => {
      for (const { task, run, key } of steps) set.steps.learn(task, run, key, undefined)
      for (const row of found) {
        const { task, run, key, first_sequence: firstSequence } = row
        set.steps.learn(task, run, key, { task, step: toStep(set.tasks.idOf(task), run, row), firstSequence })
      }
    },
  )
  questions.ask(
    inNumbers(rows.lastCompletion.values()),
    (wanted) => `SELECT task, run, (SELECT max(completion) FROM steps WHERE completion IS NOT NULL
        AND steps.task = wanted.task AND steps.run = wanted.run) AS last
      FROM ${toWanted(parameter, wanted, { task: "bigint", run: "integer" })}`,
    (found: readonly { readonly task: number; readonly run: number; readonly last: number | null }[]) => {
      for (const { task, run, last } of found) set.steps.learnCompletion(task, run, last ?? 0)
    },
  )
}

function askForRuns(questions: Questions, { rows }: Wants, set: WorkingSet): void {
  const tasks = numbersOf(set, rows.runsOfTask.values())
  questions.ask(
    tasks,
    (numbers) => `SELECT task, record FROM runs WHERE task = ANY(${questions.parameter(numbers)}::bigint[])`,
    (found: readonly { readonly task: number; readonly record: string }[]) => {
      const ofTasks = Map.groupBy(found, ({ task }) => task)
      for (const task of tasks) {
        const records = (ofTasks.get(task) ?? []).map(({ record }) => parseEarlierRun(record))
        set.runs.learn(task, records)
      }
    },
  )
}

function askForWaits(questions: Questions, { rows }: Wants, { tasks, waits }: WorkingSet): void {
  questions.ask(
    rows.wait.values(),
    (ids) => `SELECT * FROM waits WHERE id = ANY(${questions.parameter(ids)}::text[])`,
    (found: readonly (WaitRow & { readonly task: number })[]) => {
      const byId = new Map(found.map((row) => [row.id, row]))
      for (const id of rows.wait.values()) {
        const row = byId.get(id)
        if (!row) waits.learn(id, undefined)
        else if (tasks.isKnown(row.task)) waits.learn(id, { task: row.task, record: toWaitRecord(row) })
      }
    },
  )
}

type FoundArrival = Omit<GroupArrival, "taskId"> & {
  readonly group_id: GroupId
  readonly task: number
  readonly task_id: TaskId
}

function askForArrivals(questions: Questions, { rows }: Wants, { groups: { arrivals } }: WorkingSet): void {
  const { parameter } = questions
  questions.ask(
    rows.arrivalCount.values(),
    (groups) => `SELECT group_id, count(*) AS count FROM arrivals
      WHERE group_id = ANY(${parameter(groups)}::text[]) GROUP BY group_id`,
    (found: readonly { readonly group_id: GroupId; readonly count: number }[]) => {
      for (const group of rows.arrivalCount.values()) arrivals.learnCount(group, 0)
      for (const { group_id, count } of found) arrivals.learnCount(group_id, count)
    },
  )
  questions.ask(
    rows.arrivals.values(),
    (groups) => `SELECT * FROM arrivals WHERE group_id = ANY(${parameter(groups)}::text[])`,
    (found: readonly FoundArrival[]) => {
      const ofGroups = Map.groupBy(found, ({ group_id }) => group_id)
      for (const group of rows.arrivals.values()) {
        const ofGroup = ofGroups.get(group) ?? []
        arrivals.learn(
          group,
          ofGroup.map(({ task, task_id: taskId, run, status }) => ({ group, task, arrival: { taskId, run, status } })),
        )
      }
    },
  )
}
