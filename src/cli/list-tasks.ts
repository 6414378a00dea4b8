import type { Runtime } from "../app.ts"
import type { TaskRow } from "./format.ts"

const PAGE_SIZE = 500

/** All that a filter selects, page by page: whoever has enough stops. The newest come first. */
export async function* listTasks(
  { tasks }: Pick<Runtime, "tasks">,
  filter: Parameters<Runtime["tasks"]["list"]>[0],
): AsyncGenerator<TaskRow, void> {
  let cursor: string | undefined
  do {
    const page = await tasks.list(filter, { limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) })
    yield* page.items
    cursor = page.cursor
  } while (cursor !== undefined)
}
