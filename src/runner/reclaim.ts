import { isMeanwhileError, toErrorMessage } from "../base/error.ts"
import type { WorkerId } from "../task/id.ts"
import type { Lease } from "../task/lease.ts"
import type { TaskFilter } from "../task/store.ts"
import { reclaimRun } from "./reclaim-run.ts"
import type { RunnerScope } from "./scope.ts"
import { WORKER_LEASE_PREFIX } from "./worker.ts"
import { isWorkerAlive, toWorkerIdentity } from "./worker-identity.ts"

const PAGE_SIZE = 500

/** After a longer time between two looks, as a share of a lease, this process stood still itself, or was busy. */
const STANDSTILL_SHARE = 2 / 3

/**
 * Looks for workers that are gone. One that stood still itself (stopped, or in a frozen container) saw nobody renew
 * meanwhile: silence does not count against the living until they had a whole lease's time to renew.
 */
export function createReclaim(scope: RunnerScope): () => Promise<void> {
  let lookedAt = scope.clock.monotonic()
  let judgedFrom = new Map<string, number>()
  return async () => {
    const now = scope.clock.monotonic()
    const gapMs = now - lookedAt
    lookedAt = now
    const leases = await scope.store.leases(WORKER_LEASE_PREFIX)
    judgedFrom = new Map(
      leases.map(({ key, ttlMs }) => [
        key,
        gapMs > ttlMs * STANDSTILL_SHARE ? now + ttlMs : (judgedFrom.get(key) ?? now),
      ]),
    )
    const isLost = (lease: Lease): boolean =>
      lease.isOver && (now >= (judgedFrom.get(lease.key) ?? now) || isWorkerAlive(lease.data) === false)
    await reclaimLostWorkers(scope, leases, isLost)
  }
}

/**
 * Takes over what workers that are gone have left. Taking a lost worker's lease is what fences it: from then on its
 * renewal is refused, and it stops itself before its next effect. Dying in the middle leaves the lease to the next one.
 */
async function reclaimLostWorkers(
  scope: RunnerScope,
  leases: readonly Lease[],
  isLost: (lease: Lease) => boolean,
): Promise<void> {
  for (const lease of leases) {
    if (lease.key === `${WORKER_LEASE_PREFIX}${scope.worker.id}`) continue
    // One that this worker holds is of a takeover that did not get through.
    if (lease.holder !== scope.worker.id && !isLost(lease)) continue
    try {
      await reclaimFrom(scope, lease)
    } catch (error) {
      if (isMeanwhileError(error, "lease_held") || isMeanwhileError(error, "closed")) continue
      scope.log.error("the tasks of a lost worker could not be taken over; trying again", {
        error: toErrorMessage(error),
      })
    }
  }
}

async function reclaimFrom(scope: RunnerScope, lost: Lease): Promise<void> {
  const holder = scope.worker.id
  const [taken] = await scope.store.commit([
    { op: "lease.take", key: lost.key, holder, ttlMs: lost.ttlMs, data: toWorkerIdentity() },
  ])
  const worker = lost.key.slice(WORKER_LEASE_PREFIX.length) as WorkerId
  await forEachTask(scope, { worker, statuses: ["running", "stopping"] }, worker)
  await forEachTask(scope, { inputHeldBy: worker, statuses: ["queued", "waiting"] }, worker)
  await scope.store.commit([{ op: "lease.release", key: lost.key, holder, fence: taken.fence }])
}

/** The cursor is a place in creation order: tasks that leave the filter meanwhile do not move it. */
async function forEachTask(scope: RunnerScope, filter: TaskFilter, worker: WorkerId): Promise<void> {
  let cursor: string | undefined
  do {
    const page = await scope.store.tasks(filter, { limit: PAGE_SIZE, ...(cursor && { cursor }) })
    await Promise.all(page.items.map((task) => reclaimRun(scope, task, worker)))
    cursor = page.cursor
  } while (cursor)
}
