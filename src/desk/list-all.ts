import { throughPages } from "../base/pages.ts"
import type { ListedTask, TaskService } from "../plugin/task-service.ts"
import type { TaskFilter } from "../task/store.ts"

const PAGE_SIZE = 500

/** All tasks that a filter selects, newest first, page by page: a reader that has enough stops. */
export async function* listAll(tasks: Pick<TaskService, "list">, filter: TaskFilter): AsyncGenerator<ListedTask, void> {
  for await (const items of throughPages((from) => tasks.list(filter, { limit: PAGE_SIZE, ...from }))) yield* items
}
