import type { Clock } from "../../base/clock.ts"
import type { Offer } from "../../task/dispatcher.ts"
import type { TaskSummary } from "../../task/record.ts"
import { type Place, toPlaceKey } from "../../task/place.ts"

/** What this process leaves to others, by folder; a task whose folder nobody knows, by itself. It is bounded. */
export interface LeftWork {
  /** Whether it was found out a moment ago that this is left. Notes that it was offered again. */
  isLeft(offer: Offer): boolean
  /** It is left, as was found out now. */
  add(offer: Offer): void
  /** Whether it was left until now. */
  remove(offer: Offer): boolean
  /** One task of each that nobody has looked at for a moment. */
  takeStale(): readonly Offer[]
  /** It is left and nobody else has it: it is to be offered again. */
  doubt(offer: Offer): void
  /** What need not be offered for now. */
  places(): readonly Place[]
  /** How many tasks without a known folder, of a plugin or of all. They are offered all the same. */
  count(plugin?: string): number
  /** As others are told. */
  list(): readonly string[]
  /** What was not offered for long was taken by somebody. Whether there was such. */
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

export function createLeftWork(clock: Clock): LeftWork {
  const left = new Map<string, Left>()
  const isFresh = ({ judgedAt }: Left): boolean => clock.monotonic() - judgedAt < JUDGE_EVERY_MS
  const count = (plugin?: string): number =>
    [...left.values()].filter((each) => !each.place && (plugin === undefined || each.offer.plugin === plugin)).length

  return {
    isLeft(offer) {
      const known = left.get(toLeftKey(offer))
      if (!known || !isFresh(known)) return false
      known.offeredAt = clock.monotonic()
      return true
    },
    add(offer) {
      const key = toLeftKey(offer)
      const place = toPlace(offer)
      const tasks = count()
      const isRoom = place ? left.size - tasks < MOST_FOLDERS : tasks < MOST_TASKS
      if (!isRoom && !left.has(key)) return
      const now = clock.monotonic()
      left.set(key, { offer, place, judgedAt: now, offeredAt: now, lookedAt: now })
    },
    remove: (offer) => left.delete(toLeftKey(offer)),
    takeStale() {
      const now = clock.monotonic()
      const stale = [...left.values()].filter(({ lookedAt }) => now - lookedAt >= JUDGE_EVERY_MS)
      for (const each of stale) each.lookedAt = now
      return stale.map(({ offer }) => offer)
    },
    doubt(offer) {
      const known = left.get(toLeftKey(offer))
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

/** What a worker that leaves it announces: the folder, or the run alone. */
export function toLeftKey(named: Named & Pick<Offer, "taskId">): string {
  const place = toPlace(named)
  return place ? toPlaceKey(place) : toRunKey(named)
}

/** Whether an announcement leaves this one. Earlier versions name every run. */
export function isAmong(leaves: readonly string[], named: Named & Pick<Offer, "taskId">): boolean {
  return leaves.includes(toLeftKey(named)) || leaves.includes(toRunKey(named))
}

function toRunKey({ taskId, run }: Pick<Offer, "taskId" | "run">): string {
  return `${taskId}/${run}`
}

function toPlace({ plugin, tool, folder }: Named): Place | null {
  return folder === null ? null : { plugin, tool, folder }
}
