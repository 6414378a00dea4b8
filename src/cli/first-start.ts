import type { Runtime } from "../app.ts"
import type { Task, TaskRow } from "./format.ts"

/** More than there can be before it. */
const EVENTS_READ = 20

/**
 * When the run of an agent was first begun, where several workers had it: of the time of one that was lost nothing is
 * measured. Undefined: what was measured is all there is.
 */
export async function findFirstStart(
  { engine }: Pick<Runtime, "engine">,
  { id, kind, run, fence }: Pick<Task | TaskRow, "id" | "kind" | "run" | "fence">,
): Promise<number | undefined> {
  if (kind === "tool" || fence <= run) return undefined
  const before = run > 1 ? await engine.store.run(id, run - 1) : undefined
  const events = await engine.store.events(id, before?.lastSequence ?? 0, EVENTS_READ)
  return events.find((event) => event.run === run && event.body.type === "task.started")?.at
}
