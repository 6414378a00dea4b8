import { type Clock, systemClock } from "../../../base/clock.ts"
import type { Dispatcher, TakeRequest } from "../../../task/dispatcher.ts"
import type { TaskId } from "../../../task/id.ts"
import type { Boss } from "./boss.ts"
import type { Query } from "../connection/database.ts"
import { createCustody } from "./custody.ts"
import { createFetching } from "./fetching.ts"
import { createLookAround } from "./look-around.ts"
import { createPull, withinRoom } from "./pull.ts"
import { createFits, createQueuedRows, type QueuedRow, toOffer } from "./queued-rows.ts"
import type { Take, Takes } from "./take.ts"
import { createWakeUp } from "./wake-up.ts"

/** `lost`: it was no longer there to be claimed. `failed`: nobody knows. */
export type ClaimEnding = "claimed" | "lost" | "failed"

export interface PostgresDispatcher extends Dispatcher {
  /** Something was queued, here or elsewhere. */
  announce(): void
  /** This process claims a run. The answer is to be told how that ended. */
  onClaim(taskId: TaskId, run: number): (ending: ClaimEnding) => void
  /** Gives back what is held. */
  close(): Promise<void>
}

/** Whoever is offered a run claims it at once. What nobody has claimed for so long is free for others. */
const PATIENCE_MS = 250

export interface DispatcherParts {
  readonly query: Query
  readonly boss: Boss
  /** Default: the time is the server's. */
  readonly clock?: Clock | undefined
  readonly patienceMs?: number
  readonly takes: Takes
  /** Wakes other processes: something that was held here is there for them. */
  tellOthers(): Promise<void>
}

/**
 * Tickets are pulled from pg-boss into the custody of this process, so that workers do not run after the same ones, and are
 * checked against the tasks table before they are offered. No more are pulled than can be taken, and what is not offered
 * goes back at once: others may have room for it.
 */
export function createDispatcher(parts: DispatcherParts): PostgresDispatcher {
  const { query, boss, clock, patienceMs = PATIENCE_MS, takes, tellOthers } = parts
  const timer = clock ?? systemClock
  const queued = createQueuedRows(query, clock)
  const custody = createCustody({ query, boss, queued, patienceMs, onRelease: tellOthers })
  const fetching = createFetching({ boss, queued, custody, clock: timer })
  const wakeUp = createWakeUp()
  const lookAround = createLookAround(queued, custody, wakeUp, patienceMs)
  const pull = createPull({ queued, custody, fetching, clock: timer, byTurn })

  /** Among equally urgent ones those come first whose workspace has not had its share. */
  function byTurn(one: QueuedRow, other: QueuedRow): number {
    const standsBack = ({ plugin, workspace }: QueuedRow) => Number(fetching.shareOf(plugin).hadItsShare(workspace))
    return (
      other.priority - one.priority ||
      standsBack(one) - standsBack(other) ||
      one.queuedAt - other.queuedAt ||
      one.number - other.number
    )
  }

  async function takeAny(request: TakeRequest): Promise<readonly QueuedRow[]> {
    const [plugins] = await Promise.all([queued.pluginsWithWork(request), custody.refresh()])
    if (plugins.length === 0) return []
    return takes.takeIn((take) => takeOf({ ...request, plugins }, take))
  }

  async function takeOf(wanted: TakeRequest, take: Take): Promise<readonly QueuedRow[]> {
    const { plugins, limit } = wanted
    const fits = createFits(wanted)
    const fitting = () => custody.rows().filter(fits)
    const clogged = await pull(wanted, take)
    if (fitting().length < limit) {
      const look = lookAround(wanted, clogged)
      if (fitting().length === 0 || clogged.size > 0) await look
      // What is there need not wait for what may be found.
      else look.then((hasFound) => hasFound && wakeUp.call()).catch(() => {})
    }
    const offered = withinRoom(fitting().toSorted(byTurn), wanted)
    const taken = new Set(offered)
    custody.release(custody.rows().filter((row) => plugins.includes(row.plugin) && !taken.has(row)))
    return offered
  }

  async function takeOwn(request: TakeRequest): Promise<readonly QueuedRow[]> {
    const found = await queued.find(request)
    custody.addFound(found)
    return found
  }

  return {
    async take(request) {
      if (request.limit < 1 || request.kinds.length === 0 || request.plugins.length === 0) return []
      const rows = await (request.only ? takeOwn(request) : takeAny(request))
      return rows.map(toOffer)
    },
    decline(offers) {
      const ids = new Set(offers.map(({ taskId }) => taskId))
      custody.release(custody.rows().filter(({ id }) => ids.has(id)))
      takes.decline([...ids])
    },
    onOffer: wakeUp.add,
    announce: wakeUp.call,
    nextDueInMs: queued.nextDueInMs,
    onClaim(taskId, run) {
      const claim = custody.beginClaim(taskId, run)
      return (ending) => {
        if (!claim) return
        const { plugin, workspace } = claim.row
        if (ending === "claimed") {
          claim.succeed()
          fetching.shareOf(plugin).count(workspace)
        } else claim.fail()
        // Somebody else was faster: there may be something else.
        if (ending === "lost") wakeUp.call()
      }
    },
    close() {
      wakeUp.close()
      return custody.close()
    },
  }
}
