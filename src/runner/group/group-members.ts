import type { GroupId } from "../../task/id.ts"
import type { RunStatus } from "../../task/lifecycle.ts"
import type { TaskRecord, TaskSummary } from "../../task/record.ts"
import type { HasStore } from "../run/scope.ts"
import { readAll } from "../run/task-pages.ts"

/** All of them, in the order in which they were started. */
export async function listMembers(
  scope: HasStore,
  group: GroupId,
  statuses?: readonly RunStatus[],
): Promise<readonly TaskSummary[]> {
  return (await readAll(scope, { group, ...(statuses && { statuses }) })).toReversed()
}

/** The same with what they came to. */
export async function readMembers(scope: HasStore, group: GroupId): Promise<readonly TaskRecord[]> {
  const members = await listMembers(scope, group)
  const records = await Promise.all(members.map(({ id }) => scope.store.task(id)))
  return records.filter((task) => task !== undefined)
}
