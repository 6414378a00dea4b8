import { MeanwhileError } from "../../base/error.ts"
import type { ToolCall } from "../../plugin/task-service.ts"
import type { HasActive } from "./scope.ts"

type Asking = Pick<ToolCall, "parentTask">

/**
 * A run that comes to its end while the runner closes may ask for what it needs for that: others will run it, or a
 * later start.
 */
export function requireOpen({ active }: HasActive, { parentTask }: Asking = {}): void {
  if (!active.isClosing) return
  const asking = parentTask ? active.get(parentTask) : undefined
  if (asking?.standing.in === "background" && !asking.control.abort.signal.aborted) return
  throw new MeanwhileError("closed", "The runner is shutting down: no new work is taken.")
}

/**
 * Writes a task that will run here. A shutdown waits for it before it stops what runs: otherwise a run could begin
 * behind its back, and stay claimed by a worker that is gone.
 */
export async function enter<Result>(scope: HasActive, write: () => Promise<Result>, asking?: Asking): Promise<Result> {
  requireOpen(scope, asking)
  return track(scope, write)
}

/**
 * Like `enter`, for writes that must go on while the runner closes: until they are over, the run counts as begun here.
 */
export async function track<Result>(scope: HasActive, write: () => Promise<Result>): Promise<Result> {
  const entering = write()
  scope.active.entering.add(entering)
  try {
    return await entering
  } finally {
    scope.active.entering.delete(entering)
  }
}
