import { MeanwhileError } from "../../base/error.ts"
import type { RunnerScope } from "../scope.ts"

export function requireOpen(scope: RunnerScope): void {
  if (scope.isClosing) throw new MeanwhileError("closed", "The runner is shutting down: no new work is taken.")
}

/**
 * Writes a task that will run here. A shutdown waits for it before it stops what runs: otherwise a run could begin
 * behind its back, and stay claimed by a worker that is gone.
 */
export async function enter<Result>(scope: RunnerScope, write: () => Promise<Result>): Promise<Result> {
  requireOpen(scope)
  return track(scope, write)
}

/** The same for what must go on while the runner closes: until it is over, the run counts as being begun here. */
export async function track<Result>(scope: RunnerScope, write: () => Promise<Result>): Promise<Result> {
  const entering = write()
  scope.entering.add(entering)
  try {
    return await entering
  } finally {
    scope.entering.delete(entering)
  }
}
