import type { Clock } from "../../base/clock.ts"
import type { Offer } from "../../task/dispatcher.ts"
import type { TaskSummary } from "../../task/record.ts"
import { type Place, toPlaceKey } from "../../task/place.ts"

/** Offers that this worker skips, by folder; tasks without a known folder one by one. Bounded. */
export interface SkippedOffers {
  /** True if this offer was judged as skipped a moment ago. Notes that it was offered again. */
  isLeft(offer: Offer): boolean
  /** Records that this worker skips the offer. */
  add(offer: Offer): void
  /** True if the offer was skipped until now. */
  remove(offer: Offer): boolean
  /** One offer of each entry that was not looked at for a moment. */
  takeStale(): readonly Offer[]
  /** Every worker skips the offer: it is to be offered here again. */
  doubt(offer: Offer): void
  /** Folders whose tasks need not be offered for now. */
  places(): readonly Place[]
  /** How many tasks without a known folder, of a plugin or of all. They are offered all the same. */
  count(plugin?: string): number
  /** As others are told. */
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
/** Each of these is read again and again, and the look into the queue is longer by it. */
const MOST_TASKS = 100

export function createSkippedOffers(clock: Clock): SkippedOffers {
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

/** The name under which a worker announces that it skips this: the folder, or the run alone. */
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
