import { toStoredSession } from "../../../rules/rows/session-row.ts"
import { storableOf } from "../../schema/storable.ts"
import type { Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { LockedRows } from "./answers.ts"
import type { Questions } from "./questions.ts"

export function askForSessions(questions: Questions<LockedRows>, { rows }: Wants): void {
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

export function learnSessions(answers: Partial<LockedRows>, { rows }: Wants, { sessions }: WorkingSet): void {
  for (const id of rows.session.values()) sessions.learn(id, undefined)
  for (const row of answers.sessions ?? []) sessions.learn(row.id, toStoredSession(row))
  for (const id of rows.workspaceOfSession.values()) sessions.learnWorkspace(id, undefined)
  for (const { id, workspace } of answers.workspaces ?? []) sessions.learnWorkspace(id, workspace)
}
