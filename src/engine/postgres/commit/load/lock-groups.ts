import { toGroupRecord } from "../../../rules/rows/group-row.ts"
import { storableOf } from "../../schema/storable.ts"
import { type Wants, want } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { LockedRows } from "./answers.ts"
import type { Parameter, Questions } from "./questions.ts"

export function askForGroups(questions: Questions<LockedRows>, { rows }: Wants): void {
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

export function learnGroups(answers: Partial<LockedRows>, { rows }: Wants, { groups }: WorkingSet): void {
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
