import type { SessionId, WorkspaceId, TaskId } from "../../../../task/id.ts"
import { type GroupRow, toGroupRecord } from "../../../rules/rows/group-row.ts"
import { type SessionRow, toStoredSession } from "../../../rules/rows/session-row.ts"
import type { Query } from "../../connection/database.ts"
import { type HeardLeaseRow, LEASE_COLUMNS, toServerWord } from "../../read/lease-reads.ts"
import { type DocumentKey, NUMBER_KINDS, type NumberKind, type Wants, want } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import { NOW } from "../../connection/server-time.ts"
import { storableOf } from "../../schema/storable.ts"
import { toStoredLease } from "../../../rules/hold-lease.ts"

/** The time at which a row was locked. */
export interface Locked {
  readonly now: number
}

/** The rows that are locked beside tasks, by the name under which they are asked for. */
export interface LockedRows extends Record<NumberKind, readonly number[]> {
  readonly groups: readonly GroupRow[]
  readonly sessions: readonly SessionRow[]
  /** Not locked: for those who change nothing of the session. */
  readonly workspaces: readonly { readonly id: SessionId; readonly workspace: WorkspaceId }[]
  readonly leases: readonly HeardLeaseRow[]
  readonly documents: readonly (DocumentKey & { readonly version: number })[]
  readonly now: number
}

/** Locks what is wanted beside tasks, and learns it: in one statement. Answers the time, when anything was asked for. */
export async function lockOthers(query: Query, wants: Wants, set: WorkingSet): Promise<Partial<Locked>> {
  const questions = createQuestions<LockedRows>()
  askForGroups(questions, wants)
  askForSessions(questions, wants)
  askForLeases(questions, wants)
  askForDocuments(questions, wants)
  askForNumbers(questions, wants)
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

function askForDocuments(questions: Questions<LockedRows>, { rows }: Wants): void {
  const keys = storableOf(rows.document)
  if (keys.length === 0) return
  questions.ask("documents", (parameter) => {
    const workspaces = parameter(keys.map(({ workspace }) => workspace))
    const collections = parameter(keys.map(({ collection }) => collection))
    const ids = parameter(keys.map(({ id }) => id))
    return `SELECT workspace, collection, id, version
      FROM unnest(${workspaces}::text[], ${collections}::text[], ${ids}::text[]) AS wanted (workspace, collection, id)
      JOIN documents USING (workspace, collection, id) ORDER BY workspace, collection, id FOR UPDATE OF documents`
  })
}

function learnDocuments(answers: Partial<LockedRows>, { rows }: Wants, { documents }: WorkingSet): void {
  for (const key of rows.document.values()) documents.learn(key, undefined)
  for (const row of answers.documents ?? []) documents.learn(row, row.version)
}

function askForGroups(questions: Questions<LockedRows>, { rows }: Wants): void {
  const conditions: ((parameter: Parameter) => string)[] = []
  const ids = storableOf(rows.group)
  if (ids.length > 0) conditions.push((parameter) => `SELECT unnest(${parameter(ids)}::text[])`)
  const sessions = storableOf(rows.groupsOfSession)
  if (sessions.length > 0)
    conditions.push((parameter) => `SELECT id FROM groups WHERE session = ANY(${parameter(sessions)}::text[])`)
  if (conditions.length === 0) return
  questions.ask("groups", (parameter) => {
    const union = conditions.map((toSql) => toSql(parameter)).join(" UNION ALL ")
    return `SELECT * FROM groups WHERE id = ANY(ARRAY(${union})) ORDER BY id FOR UPDATE`
  })
}

function learnGroups(answers: Partial<LockedRows>, { rows }: Wants, { groups }: WorkingSet): void {
  for (const row of answers.groups ?? []) {
    const { arrivals: _none, ...group } = toGroupRecord(row, [])
    groups.learn(row.id, group)
  }
  for (const id of rows.group.values()) if (!groups.isKnown(id)) groups.learn(id, undefined)
  for (const session of rows.groupsOfSession.values()) groups.learnSession(session)
}

/** Wants the groups of tasks that are near, as those do who will ask whether the group is joined. */
export function wantGroupsOfTasks(wants: Wants, { tasks }: WorkingSet): void {
  for (const id of wants.rows.groupOfTask.values()) {
    const group = tasks.learned(id)?.details.group
    if (!group) continue
    want(wants, "group", group)
    want(wants, "arrivalCount", group)
  }
}

function askForLeases(questions: Questions<LockedRows>, { rows }: Wants): void {
  const keys = storableOf(rows.lease)
  if (keys.length === 0) return
  questions.ask(
    "leases",
    (parameter) => `SELECT ${LEASE_COLUMNS}
      FROM leases WHERE key = ANY(${parameter(keys)}::text[]) ORDER BY key FOR UPDATE`,
  )
}

function learnLeases(answers: Partial<LockedRows>, { rows }: Wants, { leases }: WorkingSet): void {
  for (const key of rows.lease.values()) leases.learn(key, undefined)
  for (const row of answers.leases ?? []) leases.learn(row.key, toStoredLease(row), toServerWord(row))
}

function askForSessions(questions: Questions<LockedRows>, { rows }: Wants): void {
  const ids = storableOf(rows.session)
  if (ids.length > 0)
    questions.ask(
      "sessions",
      (parameter) => `SELECT * FROM sessions WHERE id = ANY(${parameter(ids)}::text[]) ORDER BY number FOR UPDATE`,
    )
  const others = storableOf(rows.workspaceOfSession)
  if (others.length > 0)
    questions.ask(
      "workspaces",
      (parameter) => `SELECT id, workspace FROM sessions WHERE id = ANY(${parameter(others)}::text[])`,
    )
}

function learnSessions(answers: Partial<LockedRows>, { rows }: Wants, { sessions }: WorkingSet): void {
  for (const id of rows.session.values()) sessions.learn(id, undefined)
  for (const row of answers.sessions ?? []) sessions.learn(row.id, toStoredSession(row))
  for (const id of rows.workspaceOfSession.values()) sessions.learnWorkspace(id, undefined)
  for (const { id, workspace } of answers.workspaces ?? []) sessions.learnWorkspace(id, workspace)
}

/** Gives the place of a value in the statement. */
export type Parameter = (value: unknown) => string

/** Several selections that are asked for in one statement, in their order; `Answer` is what each of them gives. */
export interface Questions<Answer> {
  /** A selection of rows. */
  ask(name: keyof Answer & string, toSql: (parameter: Parameter) => string): void
  /** A single value, as JSON. */
  askValue(name: keyof Answer & string, toSql: (parameter: Parameter) => string): void
  isEmpty(): boolean
  /** Leaves out selections that were not asked for or have no rows. */
  answer(query: Query): Promise<Partial<Answer>>
}

export function createQuestions<Answer>(): Questions<Answer> {
  const values: unknown[] = []
  const selections: string[] = []

  const parameter: Parameter = (value) => `$${values.push(value)}`

  return {
    ask: (name, toSql) =>
      void selections.push(`(SELECT json_agg(found)::text FROM (${toSql(parameter)}) AS found) AS ${name}`),
    askValue: (name, toSql) => void selections.push(`(${toSql(parameter)})::text AS ${name}`),
    isEmpty: () => selections.length === 0,
    async answer(query) {
      const [row = {}] = await query<Record<string, string | null>>(`SELECT ${selections.join(", ")}`, values)
      const found = Object.entries(row).flatMap(([name, text]) => (text === null ? [] : [[name, JSON.parse(text)]]))
      return Object.fromEntries(found) as Partial<Answer>
    },
  }
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
