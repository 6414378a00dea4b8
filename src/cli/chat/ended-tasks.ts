import type { Runtime } from "../../app.ts"
import { BACKGROUND_KINDS, type TaskRow } from "../format.ts"

const ENDED = ["completed", "failed", "cancelled", "timed_out", "interrupted"] as const
const PAGE_SIZE = 1_000

export type EndedRow = Extract<TaskRow, { endedAt: number }>

/** Of the whole store, in the order in which they ended. */
export async function findEndedAfter({ tasks }: Pick<Runtime, "tasks">, since: number): Promise<readonly EndedRow[]> {
  const found: EndedRow[] = []
  const filter = { statuses: ENDED, kinds: BACKGROUND_KINDS }
  let cursor: string | undefined
  do {
    const page = await tasks.list(filter, { limit: PAGE_SIZE, ...(cursor && { cursor }) })
    for (const task of page.items) if ("endedAt" in task && task.endedAt > since) found.push(task)
    cursor = page.cursor
  } while (cursor)
  return inOrder(found)
}

export function inOrder(ended: readonly EndedRow[]): readonly EndedRow[] {
  return ended.toSorted((one, other) => one.endedAt - other.endedAt)
}
