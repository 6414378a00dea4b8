import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { WorkerId } from "../../task/id.ts"
import type { Lease } from "../../task/lease.ts"
import type { TaskFilter } from "../../task/store.ts"
import { CLAIMED, reclaimOwn } from "./reclaim-own.ts"
import { reclaimRun } from "./reclaim-run.ts"
import type { RunnerScope } from "../scope.ts"
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
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
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
    for (const lease of leases) if (isLeft(scope, lease, isLost)) await reclaimSafely(scope, lease)
    for (const lease of await findUnleased(scope)) await reclaimSafely(scope, lease)
    await reclaimOwn(scope)
  }

  // One look at a time: two would take the same lease over twice.
  return () =>
    (looking ??= look().finally(() => {
      looking = undefined
    }))
}

type WorkerLease = Pick<Lease, "key" | "ttlMs">

function isLeft(scope: RunnerScope, lease: Lease, isLost: (lease: Lease) => boolean): boolean {
  if (lease.key === `${WORKER_LEASE_PREFIX}${scope.worker.id}`) return false
  // One that this worker holds is of a takeover that did not get through.
  return lease.holder === scope.worker.id || isLost(lease)
}

/**
 * A worker that stood still can claim runs in the moment before it learns that its lease was taken and is gone: no lease
 * leads to those. They are read before the leases are, for a worker has its lease before its first run.
 */
async function findUnleased(scope: RunnerScope): Promise<readonly WorkerLease[]> {
  const workers = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await scope.store.tasks({ statuses: CLAIMED }, { limit: PAGE_SIZE, ...(cursor && { cursor }) })
    for (const task of page.items) if ("worker" in task) workers.add(`${WORKER_LEASE_PREFIX}${task.worker}`)
    cursor = page.cursor
  } while (cursor)
  if (workers.size === 0) return []
  const leased = new Set((await scope.store.leases(WORKER_LEASE_PREFIX)).map((lease) => lease.key))
  const own = `${WORKER_LEASE_PREFIX}${scope.worker.id}`
  const ttlMs = Math.ceil(scope.config.leaseSeconds * 1_000)
  return [...workers].filter((key) => key !== own && !leased.has(key)).map((key) => ({ key, ttlMs }))
}

async function reclaimSafely(scope: RunnerScope, lease: WorkerLease): Promise<void> {
  try {
    await reclaimFrom(scope, lease)
  } catch (error) {
    if (isMeanwhileError(error, "lease_held") || isMeanwhileError(error, "closed")) return
    scope.log.error("the tasks of a lost worker could not be taken over; trying again", {
      error: toErrorMessage(error),
    })
  }
}

/**
 * Takes over what a worker that is gone has left. Taking its lease is what fences it: from then on its renewal is
 * refused, and it stops itself before its next effect. Dying in the middle leaves the lease to the next one.
 */
async function reclaimFrom(scope: RunnerScope, lost: WorkerLease): Promise<void> {
  const holder = scope.worker.id
  const [taken] = await scope.store.commit([
    { op: "lease.take", key: lost.key, holder, ttlMs: lost.ttlMs, data: toWorkerIdentity() },
  ])
  const worker = lost.key.slice(WORKER_LEASE_PREFIX.length) as WorkerId
  await forEachTask(scope, { worker, statuses: CLAIMED }, worker)
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
