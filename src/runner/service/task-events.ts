import { MeanwhileError } from "../../base/error.ts"
import { follow } from "../../base/follow.ts"
import type { TaskEvent } from "../../task/event.ts"
import { findTask } from "../result/find-task.ts"
import { followEvents } from "../run/follow-events.ts"
import type { WaitScope } from "../run/scope.ts"

export interface EventsRequest {
  /** The sequence number of the last event that is known. Default 0: from the first event on. */
  readonly after?: number
  /** Ends the reading. The task goes on. */
  readonly signal?: AbortSignal
}

/** Reads the events of a task until its reader leaves, its last run has ended, or the runtime is closed. */
export function readTaskEvents(
  scope: WaitScope,
  id: string,
  { after = 0, signal }: EventsRequest = {},
  workspace?: string,
): AsyncGenerator<TaskEvent, void> {
  const { store, clock, config, engine, active } = scope
  const source = {
    store,
    clock,
    bus: engine.bus,
    pollMs: config.completionScanIntervalMs,
    keepsProcessAlive: true,
  }
  return follow([active.closed.signal, ...(signal ? [signal] : [])], async function* (left) {
    requireSequence(after)
    const task = await findTask(scope, id, workspace)
    yield* followEvents(source, task.id, after, left)
  })
}

function requireSequence(after: number): void {
  if (Number.isSafeInteger(after) && after >= 0) return
  const message = `\`after\` is the sequence number of an event, 0 or more, not ${String(after)}.`
  throw new MeanwhileError("invalid_input", message, { field: "after" })
}
