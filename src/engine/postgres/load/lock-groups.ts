import type { GroupId } from "../../../task/id.ts"
import { toGroupRecord } from "../../rules/rows/group-row.ts"
import { storableOf } from "../storable.ts"
import type { Wants } from "../working-set/wants.ts"
import type { WorkingSet } from "../working-set/working-set.ts"
import type { LockedRows } from "./answers.ts"
import type { Parameter, Questions } from "./questions.ts"

export function askForGroups(questions: Questions<LockedRows>, { rows }: Wants): void {
  const conditions: ((parameter: Parameter) => string)[] = []
  const ids = storableOf(rows.group)
  if (ids.length > 0) conditions.push((parameter) => `SELECT unnest(${parameter(ids)}::text[])`)
  const tasks = storableOf(rows.groupOfTask)
  if (tasks.length > 0)
    conditions.push(
      (parameter) => `SELECT group_id FROM locked WHERE id = ANY(${parameter(tasks)}::text[]) AND group_id IS NOT NULL`,
    )
  const sessions = storableOf(rows.groupsOfSession)
  if (sessions.length > 0)
    conditions.push((parameter) => `SELECT id FROM groups WHERE session = ANY(${parameter(sessions)}::text[])`)
  if (conditions.length === 0) return
  questions.ask("groups", (parameter) => {
    const union = conditions.map((toSql) => toSql(parameter)).join(" UNION ALL ")
    return `SELECT * FROM groups WHERE id = ANY(ARRAY(${union})) ORDER BY id FOR UPDATE`
  })
}

export function learnGroups(answers: Partial<LockedRows>, { rows }: Wants, { groups, tasks }: WorkingSet): void {
  for (const row of answers.groups ?? []) {
    const { arrivals: _none, ...group } = toGroupRecord(row, [])
    groups.learn(row.id, group)
  }
  for (const id of rows.group.values()) learnAbsentGroup(id)
  for (const taskId of rows.groupOfTask.values()) {
    const group = tasks.learned(taskId)?.details.group
    if (group) learnAbsentGroup(group)
  }
  for (const session of rows.groupsOfSession.values()) groups.learnSession(session)

  function learnAbsentGroup(id: GroupId): void {
    if (!groups.isKnown(id)) groups.learn(id, undefined)
  }
}
