import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { JsonObject } from "../../base/json.ts"
import type { WorkerId } from "../../task/id.ts"
import type { Lease } from "../../task/lease.ts"
import type { TaskSummary } from "../../task/record.ts"
import type { TaskFilter } from "../../task/store.ts"
import { reclaimRun } from "./reclaim-run.ts"
import { toAnnouncementRemoval } from "../worker/announcement.ts"
import { toDataFolder } from "../worker/spool-home.ts"
import { hasSameSpool, isLeftForHost, isOfThisHost } from "../worker/left-host.ts"
import { stoodStill } from "../worker/worker.ts"
import { warn } from "../worker/repeat.ts"
import type {
  ExecuteScope,
  FenceScope,
  HasActive,
  HasConfig,
  HasEngine,
  HasLog,
  HasQueue,
  HasStore,
} from "../run/scope.ts"
import { readPages, readAll } from "../run/task-pages.ts"
import { WORKER_LEASE_PREFIX } from "../../task/worker.ts"
import { isNeighbourAlive, isWorkerAlive, toWorkerIdentity } from "../worker/worker-identity.ts"

/**
 * Looks for workers that are gone. If this worker itself stood still (stopped, or in a frozen container), or waited for
 * the store, it saw nobody renew meanwhile. The silence of the others then counts only after they had a whole lease's
 * time to renew.
 */
export function createReclaim(scope: ExecuteScope): Reclaim {
  const isAlive = isAlone(scope) ? isWorkerAlive : isNeighbourAlive
  const leaseMs = scope.config.leaseSeconds * 1_000
  let lookedAt = scope.clock.monotonic()
  let judgedFrom = new Map<string, number>()
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    const leases = await scope.store.leases(WORKER_LEASE_PREFIX)
    // Read after the answer has come: while the store was away, nobody could renew.
    const now = scope.clock.monotonic()
    const gapMs = now - lookedAt
    lookedAt = now
    // A worker with a long lease looks seldom; that alone is no standstill for shorter leases of others.
    const hasStood = ({ ttlMs }: Lease): boolean => stoodStill(gapMs, Math.max(ttlMs, leaseMs))
    judgedFrom = new Map(
      leases.map((lease) => [lease.key, hasStood(lease) ? now + lease.ttlMs : (judgedFrom.get(lease.key) ?? now)]),
    )
    const isLost = (lease: Lease): boolean =>
      lease.isOver && (now >= (judgedFrom.get(lease.key) ?? now) || isAlive(lease.data) === false)
    // This worker holds the lease of another worker only after a takeover that failed halfway.
    const isLeft = (lease: Lease): boolean =>
      lease.key !== `${WORKER_LEASE_PREFIX}${scope.worker.id}` && (lease.holder === scope.worker.id || isLost(lease))
    for (const lease of leases) if (isKept(lease) || isLeft(lease)) await reclaimSafely(scope, lease)
    for (const lease of await findUnleased(scope)) await reclaimSafely(scope, lease)
    await reclaimOwn(scope)
  }

  // One look at a time: two would take the same lease over twice.
  return async (options) => {
    if (options?.isAnew) await looking?.catch(() => {})
    await (looking ??= look().finally(() => {
      looking = undefined
    }))
  }
}

/** Resumes at once the work that a session just opened, or a task that is now this runner's own, had left behind. */
export async function resumeOwnWork(scope: HasLog & HasActive & HasQueue, reclaim: Reclaim): Promise<void> {
  if (!scope.queue.ownTurns || scope.active.isClosing) return
  if (scope.queue.own) await reclaim({ isAnew: true }).catch((error: unknown) => warn(scope, error))
  scope.queue.mayHaveQueuedTurns = true
  scope.queue.nudge()
}

/** `isAnew`: a look that has already begun does not count. */
export type Reclaim = (options?: { readonly isAnew: boolean }) => Promise<void>

type WorkerLease = Pick<Lease, "key" | "ttlMs"> & Partial<Lease>

/**
 * Ends runs that are kept for a host and were asked to stop, whichever worker takes over the rest. A worker that has
 * their files also ends their processes. Otherwise that host ends the processes once it is back.
 */
async function endStopped(scope: ExecuteScope, lost: WorkerLease): Promise<void> {
  const worker = toWorkerId(lost)
  await forEachTask(scope, { worker, statuses: ["stopping"] }, async (task) => {
    const hasSpool = isOfThisHost(lost, scope.worker.home) && scope.spool.hasRun(task.id, task.run)
    if (isOwn(scope, task)) await reclaimRun(scope, task, worker, { hasSpool })
  })
}

const toWorkerId = ({ key }: Pick<Lease, "key">): WorkerId => key.slice(WORKER_LEASE_PREFIX.length) as WorkerId

/**
 * A worker that stood still can claim runs in the moment before it learns that its lease was taken and is gone. No lease
 * leads to those runs. Runs are read before the leases, because a worker has its lease before its first run.
 */
async function findUnleased(scope: FenceScope & HasConfig): Promise<readonly WorkerLease[]> {
  const workers = new Set<string>()
  for await (const page of readPages(scope, { statuses: CLAIMED })) {
    for (const task of page) if ("worker" in task) workers.add(`${WORKER_LEASE_PREFIX}${task.worker}`)
  }
  if (workers.size === 0) return []
  const leased = new Set((await scope.store.leases(WORKER_LEASE_PREFIX)).map((lease) => lease.key))
  const own = `${WORKER_LEASE_PREFIX}${scope.worker.id}`
  const ttlMs = Math.ceil(scope.config.leaseSeconds * 1_000)
  return [...workers].filter((key) => key !== own && !leased.has(key)).map((key) => ({ key, ttlMs }))
}

async function reclaimSafely(scope: ExecuteScope, lease: WorkerLease): Promise<void> {
  try {
    await (isKept(lease) && !isOfThisHost(lease, scope.worker.home) ? endStopped : reclaimFrom)(scope, lease)
  } catch (error) {
    if (isMeanwhileError(error, "lease_held") || isMeanwhileError(error, "closed")) return
    // Another worker of this host was faster.
    if (isMeanwhileError(error, "stale_claim") && isKept(lease)) return
    scope.log.error("the tasks of a lost worker could not be taken over; trying again", {
      error: toErrorMessage(error),
    })
  }
}

/**
 * Takes over what a lost worker has left. Taking its lease fences that worker: from then on its renewal is refused, and
 * it stops itself before its next effect. A crash in the middle leaves the lease to the next worker. A runner that leaves
 * others' work alone takes only its own: workers that take everything find the rest, which then has no lease.
 */
async function reclaimFrom(scope: ExecuteScope, lost: WorkerLease): Promise<void> {
  const holder = scope.worker.id
  const worker = toWorkerId(lost)
  if (scope.queue.own && !(await hasOwnTask(scope, worker, isKept(lost)))) {
    if (isKept(lost)) await endStopped(scope, lost)
    return
  }
  const { spool = null, host, dataFolderId } = lost.data ?? {}
  const known = { ...(host !== undefined && { host }), ...(dataFolderId !== undefined && { dataFolderId }) }
  const data = { ...toWorkerIdentity(), spool, ...known }
  const taken = await takeLease(scope, lost, data)
  const hasSpool = ({ id, run }: TaskSummary): boolean => {
    if (isAlone(scope)) return true
    // A worker without a lease has not said where its spool is. It may be this one, and the worker only suspended.
    if (spool === null) return scope.spool.forbidIfNothingLeft(id, run)
    return isKept(lost) ? scope.spool.hasRun(id, run) : hasSameSpool(data, scope.worker.home)
  }
  const dataFolder = typeof spool === "string" ? toDataFolder(spool) : null
  const where = { dataFolder, ...(!isAlone(scope) && typeof host === "string" && { host }) }
  await forEachTask(scope, { worker, statuses: CLAIMED }, async (task) => {
    if (isOwn(scope, task)) await reclaimRun(scope, task, worker, { hasSpool: hasSpool(task), ...where })
  })
  const held = { inputHeldBy: worker, statuses: ["queued", "waiting"] } as const
  await forEachTask(scope, held, (task) => reclaimRun(scope, task, worker))
  await scope.store.commit([
    { op: "lease.release", key: lost.key, holder, fence: taken.fence },
    toAnnouncementRemoval(worker),
  ])
}

/** True if the lease was left for its host and is still held for it. */
const isKept = (lease: WorkerLease): boolean => isLeftForHost(lease) && lease.isOver !== true

async function takeLease(scope: FenceScope & HasConfig, lost: WorkerLease, data: JsonObject): Promise<Lease> {
  const { key, holder: leftBy, fence } = lost
  const ttlMs = isLeftForHost(lost) ? Math.ceil(scope.config.leaseSeconds * 1_000) : lost.ttlMs
  const take = { op: "lease.take", key, holder: scope.worker.id, ttlMs, data } as const
  const isReleased = leftBy !== undefined && fence !== undefined && isKept(lost)
  if (isReleased) await scope.store.commit([{ op: "lease.release", key, holder: leftBy, fence }, take])
  const [taken] = await scope.store.commit([take])
  return taken
}

/** True for an embedded store: it belongs to one machine and lies beside the one spool that all its workers share. */
export const isAlone = ({ engine }: HasEngine): boolean => engine.name === "embedded"

async function forEachTask(
  scope: HasStore,
  filter: TaskFilter,
  visit: (task: TaskSummary) => Promise<void>,
): Promise<void> {
  for await (const page of readPages(scope, filter)) await Promise.all(page.map(visit))
}

function isOwn({ queue: { own } }: HasQueue, task: TaskSummary): boolean {
  return own === null || own.has(task)
}

/** True if one of the runs is own. Where they are kept for this host, all must be: the others would become anyone's. */
async function hasOwnTask(scope: HasStore & HasQueue, worker: WorkerId, isKeptForHost: boolean): Promise<boolean> {
  const tasks = await readAll(scope, { worker, statuses: CLAIMED })
  const areOwn = tasks.map((task) => isOwn(scope, task))
  return areOwn.includes(true) && !(isKeptForHost && areOwn.includes(false))
}

/** The statuses in which a run belongs to a worker. */
const CLAIMED = ["running", "stopping"] as const

/**
 * Reclaims runs that are this worker's in the store and do not run here: the answer to a claim was lost, or an end could
 * not be written. Their lease is never over while this process lives.
 */
async function reclaimOwn(scope: ExecuteScope): Promise<void> {
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

/** Looks twice: a run that was being begun at the first look has begun, or has ended, at the second. */
async function findLeft(scope: FenceScope & HasActive): Promise<TaskSummary[]> {
  const findUnknown = async (): Promise<TaskSummary[]> => {
    const found = await readAll(scope, { worker: scope.worker.id, statuses: CLAIMED })
    return found.filter((task) => !scope.active.has(task.id))
  }
  const seen = await findUnknown()
  if (seen.length === 0) return []
  await Promise.allSettled(scope.active.entering)
  const claims = new Set(seen.map(toClaim))
  return (await findUnknown()).filter((task) => claims.has(toClaim(task)))
}

function toClaim({ id, run, fence }: TaskSummary): string {
  return `${id}/${run}/${fence}`
}
