import type { Clock } from "../../base/clock.ts"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { JsonObject } from "../../base/json.ts"
import type { Log } from "../../plugin/context.ts"
import { createWorkerId, type WorkerId } from "../../task/id.ts"
import type { Lease } from "../../task/lease.ts"
import type { Operation, OperationOf } from "../../task/operation.ts"
import type { TaskStore } from "../../task/store.ts"
import { WORKER_LEASE_PREFIX } from "../../task/worker.ts"
import { toAnnouncementRemoval } from "./announcement.ts"
import { toLeftData } from "./left-host.ts"
import { repeat } from "./repeat.ts"
import type { SpoolHome } from "./spool-home.ts"

/** This process as the store knows it: a lease that is renewed for as long as it lives. */
export interface Worker {
  /** Changes when the lease is lost: the process then goes on as a new worker. */
  readonly id: WorkerId
  readonly home: SpoolHome
  /** True if effects may go on without asking the store: the lease is younger than 80 % of its time. */
  isFresh(): boolean
  /**
   * Renews the lease now. False: the lease was taken over, and no run claimed under it is ours any longer. The worker then
   * has another id and lease. Rejects once the worker has closed.
   */
  confirm(): Promise<boolean>
  /** Committed beside a claim, this operation refuses the claim of a worker that has lost its lease. */
  renewal(): OperationOf<"lease.renew">
  /** Gives the lease up: any worker may take over what is left running under it. */
  close(): Promise<void>
  /** Closes, and keeps the lease for `forMs`: until then only the next worker of this data folder may take over its runs. */
  leave(forMs: number): Promise<void>
}

export interface WorkerOptions {
  readonly store: TaskStore
  readonly clock: Clock
  readonly leaseMs: number
  readonly identity: JsonObject
  readonly home: SpoolHome
  readonly log: Log
  /** Called after the lease was lost and before a new one is taken. */
  readonly onLost: () => void
  /** Called once the worker has a new lease. */
  readonly onBack: () => void
}

/** Past this share of its time a lease is not trusted without asking. */
const FRESH_SHARE = 0.8
const RENEWALS_PER_LEASE = 3

/** A lease that was lost is never fresh. */
const NEVER = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }

export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { store, clock, leaseMs, log } = options
  let id = createWorkerId()
  let lease = await take(options, id)
  let renewed = { monotonic: clock.monotonic(), wall: clock.now() }
  let renewal: Promise<boolean> | undefined
  let isClosed = false

  /** Monotonic time stands still in suspend and wall time may jump: the larger of both is the safe age. */
  function ageMs(): number {
    return Math.max(clock.monotonic() - renewed.monotonic, clock.now() - renewed.wall)
  }

  const isFresh = (): boolean => ageMs() < leaseMs * FRESH_SHARE

  const toRenewal = () => ({ op: "lease.renew", key: lease.key, holder: id, fence: lease.fence }) as const

  async function renew(): Promise<boolean> {
    const asked = { monotonic: clock.monotonic(), wall: clock.now() }
    try {
      await store.commit([toRenewal()])
      renewed = asked
      return true
    } catch (error) {
      if (!isMeanwhileError(error, "stale_claim")) throw error
    }
    if (isClosed) throw new MeanwhileError("closed", "This worker has given its lease up.")
    if (renewed !== NEVER) lose()
    // The new id is used only once it has a lease: others take what runs under an id without one for left behind.
    const next = createWorkerId()
    lease = await take(options, next)
    id = next
    renewed = { monotonic: clock.monotonic(), wall: clock.now() }
    options.onBack()
    return false
  }

  function lose(): void {
    const silence = `was silent for ${toSeconds(ageMs())} s, longer than its lease of ${toSeconds(leaseMs)} s`
    log.warn(`this worker ${silence}: others have taken over what it ran, and it goes on with new work`, { worker: id })
    renewed = NEVER
    options.onLost()
  }

  async function confirm(): Promise<boolean> {
    const wasUnderWay = renewal !== undefined
    const isOurs = await renewOnce()
    // A renewal that was under way may have been sent before this process stood still.
    return isOurs && wasUnderWay && !isFresh() ? renewOnce() : isOurs
  }

  function renewOnce(): Promise<boolean> {
    renewal ??= renew().finally(() => {
      renewal = undefined
    })
    return renewal
  }

  async function end(toLast: () => readonly Operation[]): Promise<void> {
    isClosed = true
    await renewing.close()
    await renewal?.catch(() => false)
    try {
      await store.commit([...toLast(), toAnnouncementRemoval(id)])
    } catch (error) {
      // The lease was taken over in the last moment: this worker can neither give it up nor keep it.
      if (!isMeanwhileError(error, "stale_claim")) throw error
    }
  }

  const renewing = repeat(options, leaseMs / RENEWALS_PER_LEASE, async () => {
    await confirm().catch((error: unknown) => {
      const isGone = isMeanwhileError(error, "store_gone")
      const what = isGone
        ? "nothing more can be done without the store"
        : "the lease could not be renewed; trying again"
      log[isGone ? "error" : "warn"](what, { error: toErrorMessage(error) })
      if (isGone) throw error
    })
  })

  return {
    get id() {
      return id
    },
    home: options.home,
    isFresh,
    confirm,
    renewal: toRenewal,
    close: () => end(() => [{ op: "lease.release", key: lease.key, holder: id, fence: lease.fence }]),
    leave(forMs) {
      const data = toLeftData(options.identity)
      const ttlMs = Math.ceil(forMs)
      return end(() => [toRenewal(), { op: "lease.take", key: lease.key, holder: id, ttlMs, data }])
    },
  }
}

const toSeconds = (durationMs: number): number => Math.round(durationMs / 100) / 10

async function take({ store, leaseMs, identity }: WorkerOptions, id: WorkerId): Promise<Lease> {
  const [lease] = await store.commit([
    { op: "lease.take", key: `${WORKER_LEASE_PREFIX}${id}`, holder: id, ttlMs: Math.ceil(leaseMs), data: identity },
  ])
  return lease
}

/** As a share of a lease. */
const STANDSTILL_SHARE = 2 / 3

/**
 * True if the last look of this process is so long ago that it was itself suspended, was busy, or waited for its store.
 * It cannot say then that others were silent.
 */
export function stoodStill(sinceLookMs: number, leaseMs: number): boolean {
  return sinceLookMs > leaseMs * STANDSTILL_SHARE
}
