import type { TaskRecord } from "../task/record.ts"
import type { TaskStore } from "../task/store.ts"

/** More than a run has before it is started. */
const EVENTS_READ = 20

/**
 * When the run of an agent was first started, if several workers have had it: nobody measured how long a lost worker ran it.
 * Null: one worker had the run, and has measured all of it.
 */
export async function findFirstStart(
  store: Pick<TaskStore, "run" | "events">,
  { id, kind, run, fence }: Pick<TaskRecord, "id" | "kind" | "run" | "fence">,
): Promise<number | null> {
  if (kind === "tool" || fence <= run) return null
  const before = run > 1 ? await store.run(id, run - 1) : undefined
  const events = await store.events(id, before?.lastSequence ?? 0, EVENTS_READ)
  return events.find((event) => event.run === run && event.body.type === "task.started")?.at ?? null
}
