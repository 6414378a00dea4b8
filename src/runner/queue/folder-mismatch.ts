import type { WorkerView } from "../../plugin/worker-view.ts"
import { type Offer, type Place, toPlaceKey } from "../../task/dispatcher.ts"
import type { Lease } from "../../task/lease.ts"
import type { TaskRecord, TaskSummary } from "../../task/record.ts"
import { WORKER_LEASE_PREFIX } from "../../task/worker.ts"
import type { Clock } from "../../base/clock.ts"
import type { FenceScope, HasClock, HasConfig, HasQueue, HasTools, HasWritten } from "../run/scope.ts"
import { isLeftForHost } from "../worker/left-host.ts"
import { stoodStill } from "../worker/worker.ts"
import { listWorkers } from "../worker/worker-list.ts"

interface FolderMismatchScope extends FenceScope, HasClock, HasConfig, HasQueue, HasTools, HasWritten {}

/** Tasks whose folder this process does not have, or that were asked for elsewhere: other workers run them. */
export interface FolderMismatch extends Pick<SkippedOffers, "places" | "count" | "list"> {
  /**
   * The offers that this worker claims. An offer that every worker skips is claimed by one that takes all work or has
   * the session open: the task then fails, and says why.
   */
  sift(offers: readonly Offer[]): Promise<readonly Offer[]>
  /**
   * Finds tasks that are no longer skipped, and tells others: until then they would give up tasks that can run here by
   * now. A worker without a free slot needs this as well, since it is offered nothing.
   */
  review(): Promise<void>
}

/** A record: the task's folder is not here, and the announcements must say whether others skip the task, too. */
type Found = "here" | "left" | TaskRecord

/** `announce` tells others which tasks are skipped here, and resolves once they can know. */
export function createFolderMismatch(scope: FolderMismatchScope, announce: () => Promise<void>): FolderMismatch {
  const left = createSkippedOffers(scope.clock)
  const leaseMs = scope.config.leaseSeconds * 1_000
  let siftedAt = scope.clock.monotonic()
  let judgesFrom = siftedAt

  async function look(offer: Offer): Promise<Found> {
    if (left.isLeft(offer)) return "left"
    const task = await readLeft(offer)
    if (task) left.add(offer)
    return task ?? "here"
  }

  /** The task of the offer. Undefined when the task can run here or is gone: it is no longer skipped then. */
  async function readLeft(offer: Offer): Promise<TaskRecord | undefined> {
    const task = await scope.store.task(offer.taskId)
    if (task && !isHere(scope, task)) return task
    if (left.remove(offer)) void announce()
    return undefined
  }

  /** Own work that was left to others is judged task by task: its folder may be here all the same. */
  function toJudged(offer: Offer): Offer {
    return scope.queue.own?.isLeft(offer) ? { ...offer, folder: null } : offer
  }

  /** Looks once for all offers of a folder. */
  function createLooks(): (offer: Offer) => Promise<Found> {
    const looks = new Map<string, Promise<Found>>()
    return (offer) => {
      const key = toSkipKey(offer)
      const found = looks.get(key) ?? look(offer)
      looks.set(key, found)
      return found
    }
  }

  /**
   * The other workers. Undefined: one may live that is not among them, for example because nobody could renew while the
   * store was away.
   */
  async function listOthers(): Promise<readonly WorkerView[] | undefined> {
    await announce()
    if (scope.clock.monotonic() < judgesFrom) return undefined
    const [workers, leases] = await Promise.all([listWorkers(scope), scope.store.leases(WORKER_LEASE_PREFIX)])
    const heard = new Set(workers.map(({ id }) => `${WORKER_LEASE_PREFIX}${id}`))
    const isUnheard = ({ key, holder, isOver, data }: Lease): boolean =>
      !isOver && key === `${WORKER_LEASE_PREFIX}${holder}` && !heard.has(key) && !isLeftForHost({ data })
    return leases.some(isUnheard) ? undefined : workers.filter(({ id }) => id !== scope.worker.id)
  }

  function noteLook(): void {
    const now = scope.clock.monotonic()
    if (stoodStill(now - siftedAt, leaseMs)) judgesFrom = now + leaseMs
    siftedAt = now
  }

  return {
    places: left.places,
    count: left.count,
    list: left.list,
    async sift(offers) {
      noteLook()
      const plugins = new Set(offers.map(({ plugin }) => plugin))
      const placed = new Set([...plugins].filter((plugin) => hasPlaces(scope, plugin)))
      if (placed.size === 0) return offers
      const lookOnce = createLooks()
      const looks = await Promise.all(
        offers.map(async (offer) => {
          const found = placed.has(offer.plugin) ? await lookOnce(toJudged(offer)) : "here"
          return { offer, found }
        }),
      )
      // Read once: many offers may be skipped at once, and the workers are the same for all of them.
      const others = looks.some(({ found }) => typeof found === "object") ? await listOthers() : []
      return looks.flatMap(({ offer, found }) => {
        if (typeof found === "string") return found === "here" ? [offer] : []
        // A process that only answers lives for a moment. A worker that has the session open, or stays, gives the task up.
        if (scope.queue.own && !scope.queue.own.hasSession(offer.session)) return []
        if (!others?.every((other) => leaves(other, found, offer))) return []
        left.doubt(toJudged(offer))
        return [offer]
      })
    },
    async review() {
      if (left.forget()) void announce()
      await Promise.all(left.takeStale().map(readLeft))
    },
  }
}

/** True if a tool of the plugin has `isHere`. Most plugins have no such tool: then no task is read. */
function hasPlaces({ tools }: HasTools, plugin: string): boolean {
  const names = tools.names().get(plugin) ?? []
  return [...names].some((name) => tools.find(name, plugin).tool.isHere !== undefined)
}

function isHere(
  { tools, written, queue }: HasQueue & HasTools & HasWritten,
  { id: taskId, run, tool, plugin, input }: TaskRecord,
): boolean {
  if (queue.own?.isLeft({ taskId, run })) return false
  try {
    return tools.find(tool, plugin).tool.isHere?.(written.heldInputs.get(taskId) ?? input) ?? true
  } catch {
    // The tool fails when it is called, and says why.
    return true
  }
}

/**
 * True if that worker cannot run the task, or announced that it skips it. An earlier version takes work and announces
 * nothing.
 */
function leaves({ announcement, host, isStarting }: WorkerView, { kind }: TaskRecord, offer: Offer): boolean {
  if (announcement === null) return host !== null && !isStarting
  const { plugin, tool } = offer
  if (!announcement.kinds.includes(kind) || !announcement.plugins[plugin]?.includes(tool)) return true
  return isSkipped(announcement.leaves, offer)
}

/** Offers that this worker skips, by folder; tasks without a known folder one by one. Bounded. */
interface SkippedOffers {
  /** True if this offer was judged as skipped a moment ago. Notes that it was offered again. */
  isLeft(offer: Offer): boolean
  /** Records that this worker skips the offer. */
  add(offer: Offer): void
  /** True if the offer was skipped until now. */
  remove(offer: Offer): boolean
  /** One offer of each entry that was not looked at for a moment. */
  takeStale(): readonly Offer[]
  /** Called when every worker skips the offer: it is to be offered here again. */
  doubt(offer: Offer): void
  /** Folders whose tasks need not be offered for now. */
  places(): readonly Place[]
  /** How many tasks without a known folder are skipped, of a plugin or of all. They are offered all the same. */
  count(plugin?: string): number
  /** The names that are announced to others. */
  list(): readonly string[]
  /** Drops entries not offered recently: somebody took them. True if any were dropped. */
  forget(): boolean
}

interface Left {
  readonly offer: Offer
  readonly place: Place | null
  judgedAt: number
  offeredAt: number
  lookedAt: number
}

const JUDGE_EVERY_MS = 2_000
const FORGET_AFTER_MS = 60_000
const MOST_FOLDERS = 1_000
/** Each of these tasks is read again and again, and makes the look into the queue longer. */
const MOST_TASKS = 100

function createSkippedOffers(clock: Clock): SkippedOffers {
  const left = new Map<string, Left>()
  const isFresh = ({ judgedAt }: Left): boolean => clock.monotonic() - judgedAt < JUDGE_EVERY_MS
  const count = (plugin?: string): number =>
    [...left.values()].filter((each) => !each.place && (plugin === undefined || each.offer.plugin === plugin)).length

  return {
    isLeft(offer) {
      const known = left.get(toSkipKey(offer))
      if (!known || !isFresh(known)) return false
      known.offeredAt = clock.monotonic()
      return true
    },
    add(offer) {
      const key = toSkipKey(offer)
      const place = toPlace(offer)
      const tasks = count()
      const isRoom = place ? left.size - tasks < MOST_FOLDERS : tasks < MOST_TASKS
      if (!isRoom && !left.has(key)) return
      const now = clock.monotonic()
      left.set(key, { offer, place, judgedAt: now, offeredAt: now, lookedAt: now })
    },
    remove: (offer) => left.delete(toSkipKey(offer)),
    takeStale() {
      const now = clock.monotonic()
      const stale = [...left.values()].filter(({ lookedAt }) => now - lookedAt >= JUDGE_EVERY_MS)
      for (const each of stale) each.lookedAt = now
      return stale.map(({ offer }) => offer)
    },
    doubt(offer) {
      const known = left.get(toSkipKey(offer))
      if (known) known.judgedAt = Number.NEGATIVE_INFINITY
    },
    places: () => [...left.values()].flatMap((each) => (each.place && isFresh(each) ? each.place : [])),
    count,
    list: () => [...left.keys()].toSorted(),
    forget() {
      const before = clock.monotonic() - FORGET_AFTER_MS
      const old = [...left].filter(([, { offeredAt }]) => offeredAt < before)
      for (const [key] of old) left.delete(key)
      return old.length > 0
    },
  }
}

type Named = Pick<TaskSummary, "run" | "plugin" | "tool" | "folder">

/** The name under which a worker announces that it skips a task: its folder, or the run alone. */
export function toSkipKey(named: Named & Pick<Offer, "taskId">): string {
  const place = toPlace(named)
  return place ? toPlaceKey(place) : toRunKey(named)
}

/** True if the announced names include this offer. Earlier versions name every run. */
export function isSkipped(leaves: readonly string[], named: Named & Pick<Offer, "taskId">): boolean {
  return leaves.includes(toSkipKey(named)) || leaves.includes(toRunKey(named))
}

function toRunKey({ taskId, run }: Pick<Offer, "taskId" | "run">): string {
  return `${taskId}/${run}`
}

function toPlace({ plugin, tool, folder }: Named): Place | null {
  return folder === null ? null : { plugin, tool, folder }
}
