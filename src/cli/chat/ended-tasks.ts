import type { Runtime } from "../../app.ts"
import { BACKGROUND_KINDS, type TaskRow } from "../format.ts"
import { listTasks } from "../list-tasks.ts"

const ENDED = ["completed", "failed", "cancelled", "timed_out", "interrupted"] as const

export type EndedRow = Extract<TaskRow, { endedAt: number }>

/** Of the whole store, in the order in which they ended. */
export async function findEndedAfter(meanwhile: Pick<Runtime, "tasks">, since: number): Promise<readonly EndedRow[]> {
  const found: EndedRow[] = []
  const filter = { statuses: ENDED, kinds: BACKGROUND_KINDS, endedAfter: since }
  for await (const task of listTasks(meanwhile, filter)) if ("endedAt" in task) found.push(task)
  return inOrder(found)
}

export function inOrder(ended: readonly EndedRow[]): readonly EndedRow[] {
  return ended.toSorted((one, other) => one.endedAt - other.endedAt)
}
