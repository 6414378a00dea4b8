import type { TaskId } from "../../task/id.ts"
import { STOPPED_STATUSES } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasStore } from "../run/scope.ts"

/** A stop, and the end that confirms it, write a handful of events; the note is among the last of the task. */
const EVENTS_READ = 100

/** The tasks of lifetime `forever` that go on although this task, which had started them, was stopped. */
export async function findOutlived(scope: HasStore, task: TaskRecord): Promise<readonly TaskId[]> {
  if (!task.hasChildren || !STOPPED_STATUSES.has(task.status)) return []
  const events = await scope.store.events(task.id, Math.max(0, task.lastSequence - EVENTS_READ), EVENTS_READ)
  const noted = events.flatMap(({ run, body }) => (body.type === "task.outlived" && run === task.run ? body.by : []))
  return [...new Set(noted)]
}
