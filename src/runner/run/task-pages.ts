import { throughPages } from "../../base/pages.ts"
import type { TaskSummary } from "../../task/record.ts"
import type { TaskFilter } from "../../task/store.ts"
import type { HasStore } from "./scope.ts"

const PAGE_SIZE = 500

/**
 * All tasks that the filter selects, newest first. The cursor is a place in creation order: tasks that leave the filter
 * meanwhile do not move it.
 */
export function readPages(
  { store }: HasStore,
  filter: TaskFilter,
  limit = PAGE_SIZE,
): AsyncGenerator<readonly TaskSummary[], void> {
  return throughPages((from) => store.tasks(filter, { limit, ...from }))
}

export async function readAll(scope: HasStore, filter: TaskFilter): Promise<readonly TaskSummary[]> {
  return (await Array.fromAsync(readPages(scope, filter))).flat()
}
