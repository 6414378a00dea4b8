import type { Query } from "../connection/database.ts"
import { NUMBER_KINDS, type Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import { askForDocuments, learnDocuments } from "./lock-documents.ts"
import { askForGroups, learnGroups } from "./lock-groups.ts"
import { askForLeases, learnLeases } from "./lock-leases.ts"
import { askForSessions, learnSessions } from "./lock-sessions.ts"
import { askForTasks, learnTasks } from "./lock-tasks.ts"
import type { LockedRows } from "./answers.ts"
import { createQuestions, type Questions } from "./questions.ts"

/**
 * Locks the wanted rows that guard others, and learns them: in one statement, tables and rows always in the same order.
 * A row that had to be waited for is seen as it is now; what belongs to it must be read by a later statement.
 */
export async function lockRows(query: Query, wants: Wants, set: WorkingSet, now: number | undefined): Promise<number> {
  const questions = createQuestions<LockedRows>()
  askForTasks(questions, wants)
  askForGroups(questions, wants)
  askForSessions(questions, wants)
  askForLeases(questions, wants)
  askForDocuments(questions, wants)
  askForNumbers(questions, wants)
  if (now === undefined) questions.askValue("now", () => "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint")
  if (questions.isEmpty()) return now ?? 0
  const answers = await questions.answer(query)
  learnTasks(answers, wants, set)
  learnGroups(answers, wants, set)
  learnSessions(answers, wants, set)
  learnLeases(answers, wants, set)
  learnDocuments(answers, wants, set)
  learnNumbers(answers, set)
  return now ?? answers.now ?? 0
}

function askForNumbers(questions: Questions<LockedRows>, { numbers }: Wants): void {
  for (const kind of NUMBER_KINDS)
    if (numbers[kind] > 0)
      questions.askValue(kind, (parameter) => {
        const count = parameter(numbers[kind])
        return `SELECT json_agg(nextval('${kind}')) FROM generate_series(1, ${count}::integer)`
      })
}

function learnNumbers(answers: Partial<LockedRows>, { tasks, sessions, leases }: WorkingSet): void {
  tasks.numbers.learn(answers.task_numbers ?? [])
  sessions.numbers.learn(answers.session_numbers ?? [])
  leases.fences.learn(answers.lease_fences ?? [])
}
