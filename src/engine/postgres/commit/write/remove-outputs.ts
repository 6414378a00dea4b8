import type { WorkingSet } from "../working-set/working-set.ts"
import type { Bulk } from "./bulk.ts"

/** What a task printed goes when it is stripped. When the task goes, the server sees to it. */
export function removeOutputs(bulk: Bulk, { tasks }: WorkingSet): void {
  const stripped = tasks.changes().flatMap(({ before, after }) => {
    if (!before || before.task.number !== after?.task.number) return []
    return before.task.course.strippedAt === null && after.task.course.strippedAt !== null ? [after.task.number] : []
  })
  bulk.run(stripped.length, "DELETE FROM outputs WHERE task = ANY($1::bigint[])", [stripped])
}
