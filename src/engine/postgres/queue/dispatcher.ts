import { type Clock, systemClock } from "../../../base/clock.ts"
import type { Dispatcher, TakeRequest } from "../../../task/dispatcher.ts"
import type { TaskId } from "../../../task/id.ts"
import type { Query } from "../connection/database.ts"
import type { Boss } from "./boss.ts"
import { createTicketFetching } from "./fetch-tickets.ts"
import { createLeasedTickets } from "./leased-tickets.ts"
import { createLookAround } from "./look-around.ts"
import { createPull, withinRoom } from "./pull.ts"
import { type CheckedRun, createQueuedRuns, type QueuedRun, toOffer } from "./queued-runs.ts"
import { isMeanwhileError } from "../../../base/error.ts"
import type { Operation, RunReference } from "../../../task/operation.ts"
import type { CommitOptions } from "../../../task/store.ts"
import type { Answer } from "../../rules/change.ts"
import { addTo, callSafely } from "../../rules/local-bus.ts"

/** `lost`: the run could no longer be claimed. `failed`: it is not known whether it was claimed. */
export type ClaimEnding = "claimed" | "lost" | "failed"

export interface PostgresDispatcher extends Dispatcher {
  /** Tells listeners that something may have been queued, here or elsewhere. */
  announce(): void
  /** Called when this process begins to claim a run. The returned function must be told how the claim ended. */
  onClaim(taskId: TaskId, run: number): (ending: ClaimEnding) => void
  /** Gives back all leased tickets. */
  close(): Promise<void>
}

/**
 * How long a run that is offered here waits for its claim before it is free for others. A worker claims an offered run
 * at once.
 */
const PATIENCE_MS = 250

export interface DispatcherParts {
  readonly query: Query
  readonly boss: Boss
  /** Default: the server's time. */
  readonly clock?: Clock | undefined
  readonly patienceMs?: number
  /** Wakes other processes: tickets that were leased here can be fetched by them. */
  tellOthers(): Promise<void>
}

/**
 * Fetches tickets from pg-boss, so that workers do not compete for the same runs, and checks each against the tasks
 * table before it is offered. No more tickets are fetched than can be taken. A ticket that is not offered goes back at
 * once, because other workers may have room for its run.
 */
export function createDispatcher(parts: DispatcherParts): PostgresDispatcher {
  const { query, boss, clock, patienceMs = PATIENCE_MS, tellOthers } = parts
  const queued = createQueuedRuns(query, clock)
  const leased = createLeasedTickets({ query, boss, queued, patienceMs, onRelease: tellOthers })
  const sharingClock = clock ?? systemClock
  const fetching = createTicketFetching({ boss, queued, leased, clock: sharingClock })
  const { pull, byTurn } = createPull({ queued, fetching, clock: sharingClock })
  const wakeUp = createWakeUp()
  const lookAround = createLookAround(queued, leased, wakeUp.within, patienceMs)

  async function takeAny(request: TakeRequest): Promise<readonly QueuedRun[]> {
    const [plugins, held] = await Promise.all([queued.pluginsWithWork(request), leased.check(request)])
    return plugins.length === 0 ? [] : takeOf({ ...request, plugins }, [...held])
  }

  /** `runs`: the runs whose tickets are leased here. */
  async function takeOf(request: TakeRequest, runs: CheckedRun[]): Promise<readonly QueuedRun[]> {
    const countFitting = () => runs.filter(({ fits }) => fits).length
    const clogged = await pull(request, runs)
    if (countFitting() < request.limit) {
      const look = lookAround(request, clogged)
      if (countFitting() === 0 || clogged.size > 0) runs.push(...(await look).map((run) => ({ ...run, fits: true })))
      // The runs at hand need not wait for those that may be found.
      else look.then((found) => found.length > 0 && wakeUp.call()).catch(() => {})
    }
    // A lease that ended meanwhile brings its run twice: from the first look at the leases, and fetched again.
    const latest = [...new Map(runs.map((run) => [run.number, run])).values()]
    const fitting = latest.filter((run) => run.fits && leased.isFree(run))
    const offered = withinRoom(fitting.toSorted(byTurn), request)
    const taken = new Set<QueuedRun>(offered)
    const others = latest.filter((run) => request.plugins.includes(run.plugin) && !taken.has(run))
    leased.release(others.map(({ id }) => id))
    return offered
  }

  async function takeOwn(request: TakeRequest): Promise<readonly QueuedRun[]> {
    const found = await queued.find(request)
    leased.addFound(found)
    return found
  }

  return {
    async take(request) {
      if (request.limit < 1 || request.kinds.length === 0 || request.plugins.length === 0) return []
      const runs = await (request.only ? takeOwn(request) : takeAny(request))
      return runs.map(toOffer)
    },
    decline: (offers) => leased.release(offers.map(({ taskId }) => taskId)),
    onOffer: wakeUp.add,
    announce: wakeUp.call,
    nextDueInMs: queued.nextDueInMs,
    onClaim(taskId, run) {
      const claim = leased.beginClaim(taskId, run)
      return (ending) => {
        if (!claim) return
        if (ending === "claimed") {
          claim.succeed()
          fetching.shareOf(claim.run.plugin).count(claim.run.workspace)
        } else claim.fail()
        // Another worker was faster. There may be other work.
        if (ending === "lost") wakeUp.call()
      }
    },
    close() {
      wakeUp.close()
      return leased.close()
    },
  }
}

type Commit = (operations: readonly Operation[], options?: CommitOptions) => Promise<readonly Answer[]>

/** A commit that tells the dispatcher how the claims of its offers ended. */
export function createWatchedCommit(commit: Commit, dispatcher: Pick<PostgresDispatcher, "onClaim">): Commit {
  async function commitClaims(
    operations: readonly Operation[],
    claims: readonly RunReference[],
    options?: CommitOptions,
  ) {
    const endings = claims.map(({ taskId, run }) => dispatcher.onClaim(taskId, run))
    try {
      const answers = await commit(operations, options)
      for (const end of endings) end("claimed")
      return answers
    } catch (error) {
      const isLost = isMeanwhileError(error, "wrong_state") || isMeanwhileError(error, "not_found")
      for (const end of endings) end(isLost ? "lost" : "failed")
      throw error
    }
  }

  return (operations, options) => {
    const claims = operations.flatMap(toClaim)
    return claims.length === 0 ? commit(operations, options) : commitClaims(operations, claims, options)
  }
}

function toClaim(operation: Operation): RunReference | readonly [] {
  return operation.op === "task.apply" && operation.event.type === "task.started" ? operation.run : []
}

/** Tells listeners that there may be work, now or in a moment. */
function createWakeUp() {
  const listeners = new Set<() => void>()
  let pending: { readonly atMs: number; readonly cancel: () => void } | undefined
  let isClosed = false

  function call(): void {
    for (const listener of listeners) callSafely(listener)
  }

  return {
    call,
    add: (listener: () => void): (() => void) =>
      addTo(
        listeners,
        () => listener(),
        () => {},
      ),
    /** Calls the listeners after the delay, unless an earlier call is pending. */
    within(delayMs: number): void {
      const atMs = systemClock.monotonic() + delayMs
      if (isClosed || (pending && pending.atMs <= atMs)) return
      pending?.cancel()
      const ring = (): void => {
        pending = undefined
        call()
      }
      pending = { atMs, cancel: systemClock.schedule(delayMs, ring, { isBackground: true }) }
    },
    close(): void {
      isClosed = true
      pending?.cancel()
    },
  }
}
