import { MeanwhileError } from "../base/error.ts"
import { throughPages } from "../base/pages.ts"
import type { ListedTask, TaskService } from "../plugin/task-service.ts"
import type { TaskFilter } from "../task/store.ts"

const PAGE_SIZE = 500
/** The most items of a page: more at once would hold up the process that reads them. */
export const MOST_READ = 1_000

/** All tasks that a filter selects, newest first, page by page: a reader that has enough stops. */
export async function* listAll(tasks: Pick<TaskService, "list">, filter: TaskFilter): AsyncGenerator<ListedTask, void> {
  for await (const items of throughPages((from) => tasks.list(filter, { limit: PAGE_SIZE, ...from }))) yield* items
}

export interface Reading {
  /** The cursor of the page before; 0 to begin. */
  readonly after: number
  /** How many items are read; at most 1,000. */
  readonly limit: number
}

/** Refuses numbers that make no sense as `invalid_input`, and bounds the limit. */
export function toReading(items: string, { after, limit }: Reading): Reading {
  if (!Number.isInteger(limit) || limit < 1) {
    const message = `A page of ${limit} ${items} cannot be read. Ask for 1 or more.`
    throw new MeanwhileError("invalid_input", message, { field: "limit" })
  }
  if (!Number.isSafeInteger(after)) {
    const message = `${after} is not a cursor. Begin with 0, and pass on the cursor of the page before.`
    throw new MeanwhileError("invalid_input", message, { field: "after" })
  }
  return { after, limit: Math.min(limit, MOST_READ) }
}
