import type { ActiveRun } from "./active-run.ts"

/** A call in the foreground has another id when its turn makes it again; the step that asks for it is the same. */
export function toCallKey({ askedBy, taskId, run }: ActiveRun): string {
  return askedBy ? `${askedBy.taskId}/${askedBy.run}/${askedBy.key}` : `${taskId}/${run}`
}
