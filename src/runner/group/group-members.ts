import type { GroupId } from "../../task/id.ts"
import type { RunStatus } from "../../task/lifecycle.ts"
import type { TaskRecord, TaskSummary } from "../../task/record.ts"
import type { RunnerScope } from "../scope.ts"

const PAGE_SIZE = 500

/** All of them, in the order in which they were started. */
export async function listMembers(
  { store }: RunnerScope,
  group: GroupId,
  statuses?: readonly RunStatus[],
): Promise<readonly TaskSummary[]> {
  const found: TaskSummary[] = []
  let cursor: string | undefined
  do {
    const page = await store.tasks(
      { group, ...(statuses && { statuses }) },
      { limit: PAGE_SIZE, ...(cursor && { cursor }) },
    )
    found.push(...page.items)
    cursor = page.cursor
  } while (cursor)
  return found.toReversed()
}

/** The same with what they came to. */
export async function readMembers(scope: RunnerScope, group: GroupId): Promise<readonly TaskRecord[]> {
  const members = await listMembers(scope, group)
  const records = await Promise.all(members.map(({ id }) => scope.store.task(id)))
  return records.filter((task) => task !== undefined)
}
