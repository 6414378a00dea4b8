import { DEFAULT_WORKSPACE } from "../../task/id.ts"
import type { CountFilter, StatusCounts } from "../../task/store.ts"
import type { HasStore } from "../run/scope.ts"

export interface TaskCounts {
  readonly byStatus: StatusCounts
  /** For how long the oldest of those that could run has been in the queue; null: there is none. */
  readonly queueAgeMs: number | null
}

/** One query each. */
export async function countTasks({ store }: HasStore, filter: CountFilter): Promise<TaskCounts> {
  const inWorkspace = { ...filter, workspace: filter.workspace ?? DEFAULT_WORKSPACE }
  const { statuses: _, ...queued } = inWorkspace
  const [byStatus, queueAgeMs = null] = await Promise.all([store.countByStatus(inWorkspace), store.queueAgeMs(queued)])
  return { byStatus, queueAgeMs }
}
