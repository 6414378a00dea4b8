import type { Query } from "../../connection/database.ts"
import { NUMBER_KINDS, type Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { LockedRows } from "./answers.ts"
import { askForDocuments, learnDocuments } from "./lock-documents.ts"
import { askForGroups, learnGroups } from "./lock-groups.ts"
import { askForLeases, learnLeases } from "./lock-leases.ts"
import { askForSessions, learnSessions } from "./lock-sessions.ts"
import type { Locked } from "./lock-tasks.ts"
import { NOW } from "./now.ts"
import { createQuestions, type Questions } from "./questions.ts"
import { VERSION } from "./version.ts"

/** Locks what is wanted beside tasks, and learns it: in one statement. Answers the time, when anything was asked for. */
export async function lockOthers(query: Query, wants: Wants, set: WorkingSet): Promise<Partial<Locked>> {
  const questions = createQuestions<LockedRows>()
  askForGroups(questions, wants)
  askForSessions(questions, wants)
  askForLeases(questions, wants)
  askForDocuments(questions, wants)
  askForNumbers(questions, wants)
  if (wants.numbers.task_numbers > 0) questions.askValue("version", () => `SELECT to_json(${VERSION})`)
  const answers = await answer(questions, query)
  learnGroups(answers, wants, set)
  learnSessions(answers, wants, set)
  learnLeases(answers, wants, set)
  learnDocuments(answers, wants, set)
  learnNumbers(answers, set)
  return answers
}

async function answer(questions: Questions<LockedRows>, query: Query): Promise<Partial<LockedRows>> {
  if (questions.isEmpty()) return {}
  questions.askValue("now", () => `SELECT ${NOW}`)
  return questions.answer(query)
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
