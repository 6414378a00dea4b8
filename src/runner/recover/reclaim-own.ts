import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { TaskSummary } from "../../task/record.ts"
import { reclaimRun } from "./reclaim-run.ts"
import type { ExecuteScope, FenceScope, HasActive } from "../run/scope.ts"
import { readAll } from "../run/task-pages.ts"

/** A run in these belongs to a worker. */
export const CLAIMED = ["running", "stopping"] as const

/**
 * Runs that the store says are this worker's and that nobody here has: a claim whose answer was lost, or an end that
 * could not be written. No lease of theirs will ever be over while this process lives.
 */
export async function reclaimOwn(scope: ExecuteScope): Promise<void> {
  const worker = scope.worker.id
  for (const task of await findLeft(scope)) {
    try {
      await reclaimRun(scope, task, worker)
    } catch (error) {
      if (isMeanwhileError(error, "closed")) return
      scope.log.error("a task that was left here could not be ended; trying again", {
        task: task.id,
        error: toErrorMessage(error),
      })
    }
  }
}

/** Looks twice: what was being begun at the first look has begun, or has ended, at the second. */
async function findLeft(scope: FenceScope & HasActive): Promise<TaskSummary[]> {
  const seen = await findUnknown(scope)
  if (seen.length === 0) return []
  await Promise.allSettled(scope.active.entering)
  const claims = new Set(seen.map(toClaim))
  return (await findUnknown(scope)).filter((task) => claims.has(toClaim(task)))
}

async function findUnknown(scope: FenceScope & HasActive): Promise<TaskSummary[]> {
  const found = await readAll(scope, { worker: scope.worker.id, statuses: CLAIMED })
  return found.filter((task) => !scope.active.has(task.id))
}

function toClaim({ id, run, fence }: TaskSummary): string {
  return `${id}/${run}/${fence}`
}
