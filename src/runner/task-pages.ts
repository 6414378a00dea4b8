import type { TaskSummary } from "../task/record.ts"
import type { TaskFilter } from "../task/store.ts"
import type { RunnerScope } from "./scope.ts"

const PAGE_SIZE = 500

/**
 * All tasks that the filter selects, newest first. The cursor is a place in creation order: tasks that leave the filter
 * meanwhile do not move it.
 */
export async function* readPages(
  { store }: Pick<RunnerScope, "store">,
  filter: TaskFilter,
  limit = PAGE_SIZE,
): AsyncGenerator<readonly TaskSummary[], void> {
  let cursor: string | undefined
  do {
    const page = await store.tasks(filter, { limit, ...(cursor && { cursor }) })
    yield page.items
    cursor = page.cursor
  } while (cursor)
}

export async function readAll(scope: Pick<RunnerScope, "store">, filter: TaskFilter): Promise<readonly TaskSummary[]> {
  return (await Array.fromAsync(readPages(scope, filter))).flat()
}
