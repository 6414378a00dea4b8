import type { Runtime } from "../app.ts"
import { throughPages } from "../base/pages.ts"
import type { TaskRow } from "./format.ts"

const PAGE_SIZE = 500

/** All that a filter selects, page by page: whoever has enough stops. The newest come first. */
export async function* listTasks(
  { tasks }: Pick<Runtime, "tasks">,
  filter: Parameters<Runtime["tasks"]["list"]>[0],
): AsyncGenerator<TaskRow, void> {
  for await (const items of throughPages((from) => tasks.list(filter, { limit: PAGE_SIZE, ...from }))) yield* items
}
