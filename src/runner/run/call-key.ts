import type { ActiveRun, RunOrigin } from "./active-run.ts"

interface KeyedCall extends Pick<ActiveRun, "taskId" | "run"> {
  readonly origin: Pick<RunOrigin, "askedBy">
}

/** A foreground call gets another id when its turn makes it again. The step that asks for it stays the same. */
export function toCallKey({ origin: { askedBy }, taskId, run }: KeyedCall): string {
  return askedBy ? `${askedBy.taskId}/${askedBy.run}/${askedBy.key}` : `${taskId}/${run}`
}
