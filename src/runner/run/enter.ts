import { MeanwhileError } from "../../base/error.ts"
import type { CheckedCall } from "../../plugin/task-service.ts"
import type { HasActive } from "./scope.ts"

type Asking = Pick<CheckedCall, "parentTask">

/**
 * Throws `closed` while the runner closes. A run that is still coming to its end may ask for what it needs: other
 * workers, or a later start, will run that.
 */
export function requireOpen({ active }: HasActive, { parentTask }: Asking = {}): void {
  if (!active.isClosing) return
  const asking = parentTask ? active.get(parentTask) : undefined
  if (asking?.standing.in === "background" && !asking.control.abort.signal.aborted) return
  throw new MeanwhileError("closed", "The runner is shutting down: no new work is taken.")
}

/**
 * Writes a task that will run here. A shutdown waits for this before it stops runs: otherwise a run could begin unseen
 * and stay claimed by a worker that is gone.
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
