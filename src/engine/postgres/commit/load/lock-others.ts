import type { SessionId, WorkspaceId } from "../../../../task/id.ts"
import { type GroupRow, toGroupRecord } from "../../../rules/rows/group-row.ts"
import { type SessionRow, toStoredSession } from "../../../rules/rows/session-row.ts"
import type { Query } from "../../connection/database.ts"
import { type HeardLeaseRow, LEASE_COLUMNS, toServerWord } from "../../read/lease-reads.ts"
import { type DocumentKey, NUMBER_KINDS, type Wants, want } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import { createQuestions, ifWanted, type Questions, toWanted } from "./questions.ts"
import { NOW } from "../../connection/server-time.ts"
import { toStoredLease } from "../../../rules/hold-lease.ts"

/**
 * Locks and learns the wanted rows other than tasks, in one statement. Returns the server's time if anything was asked
 * for.
 */
export async function lockOthers(query: Query, wants: Wants, set: WorkingSet): Promise<number | undefined> {
  let now: number | undefined
  const questions = createQuestions()
  askForGroups(questions, wants, set)
  askForSessions(questions, wants, set)
  askForLeases(questions, wants, set)
  askForDocuments(questions, wants, set)
  askForNumbers(questions, wants, set)
  if (!questions.isEmpty()) questions.askValue(`SELECT ${NOW}`, (found: number) => (now = found))
  await questions.answer(query)
  return now
}

function askForNumbers(questions: Questions, { numbers }: Wants, { tasks, sessions, leases }: WorkingSet): void {
  const learners = { task_numbers: tasks.numbers, session_numbers: sessions.numbers, lease_fences: leases.fences }
  for (const kind of NUMBER_KINDS) {
    if (numbers[kind] === 0) continue
    const source = `generate_series(1, ${questions.parameter(numbers[kind])}::integer)`
    questions.askValue(`SELECT json_agg(nextval('${kind}')) FROM ${source}`, learners[kind].learn)
  }
}

function askForDocuments(questions: Questions, { rows }: Wants, { documents }: WorkingSet): void {
  const types = { workspace: "text", collection: "text", id: "text" }
  questions.ask(
    rows.document.values(),
    (keys) => `SELECT workspace, collection, id, version FROM ${toWanted(questions.parameter, keys, types)}
      JOIN documents USING (workspace, collection, id) ORDER BY workspace, collection, id FOR UPDATE OF documents`,
    (found: readonly (DocumentKey & { readonly version: number })[]) => {
      for (const key of rows.document.values()) documents.learn(key, undefined)
      for (const row of found) documents.learn(row, row.version)
    },
  )
}

function askForGroups(questions: Questions, { rows }: Wants, { groups }: WorkingSet): void {
  const { parameter } = questions
  const selections = [
    ...ifWanted(rows.group.values(), (ids) => `SELECT unnest(${parameter(ids)}::text[])`),
    ...ifWanted(
      rows.groupsOfSession.values(),
      (sessions) => `SELECT id FROM groups WHERE session = ANY(${parameter(sessions)}::text[])`,
    ),
  ]
  questions.ask(
    selections,
    () => `SELECT * FROM groups WHERE id = ANY(ARRAY(${selections.join(" UNION ALL ")})) ORDER BY id FOR UPDATE`,
    (found: readonly GroupRow[]) => {
      for (const row of found) {
        const { arrivals: _none, ...group } = toGroupRecord(row, [])
        groups.learn(row.id, group)
      }
      for (const id of rows.group.values()) if (!groups.isKnown(id)) groups.learn(id, undefined)
      for (const session of rows.groupsOfSession.values()) groups.learnSession(session)
    },
  )
}

/** Wants the groups of loaded tasks: the rules will ask whether those groups are joined. */
export function wantGroupsOfTasks(wants: Wants, { tasks }: WorkingSet): void {
  for (const id of wants.rows.groupOfTask.values()) {
    const group = tasks.learned(id)?.details.group
    if (!group) continue
    want(wants, "group", group)
    want(wants, "arrivalCount", group)
  }
}

function askForLeases(questions: Questions, { rows }: Wants, { leases }: WorkingSet): void {
  questions.ask(
    rows.lease.values(),
    (keys) => `SELECT ${LEASE_COLUMNS}
      FROM leases WHERE key = ANY(${questions.parameter(keys)}::text[]) ORDER BY key FOR UPDATE`,
    (found: readonly HeardLeaseRow[]) => {
      for (const key of rows.lease.values()) leases.learn(key, undefined)
      for (const row of found) leases.learn(row.key, toStoredLease(row), toServerWord(row))
    },
  )
}

function askForSessions(questions: Questions, { rows }: Wants, { sessions }: WorkingSet): void {
  questions.ask(
    rows.session.values(),
    (ids) => `SELECT * FROM sessions WHERE id = ANY(${questions.parameter(ids)}::text[]) ORDER BY number FOR UPDATE`,
    (found: readonly SessionRow[]) => {
      for (const id of rows.session.values()) sessions.learn(id, undefined)
      for (const row of found) sessions.learn(row.id, toStoredSession(row))
    },
  )
  // Not locked, because only writers who do not change the session ask for it.
  questions.ask(
    rows.workspaceOfSession.values(),
    (ids) => `SELECT id, workspace FROM sessions WHERE id = ANY(${questions.parameter(ids)}::text[])`,
    (found: readonly { readonly id: SessionId; readonly workspace: WorkspaceId }[]) => {
      for (const id of rows.workspaceOfSession.values()) sessions.learnWorkspace(id, undefined)
      for (const { id, workspace } of found) sessions.learnWorkspace(id, workspace)
    },
  )
}
