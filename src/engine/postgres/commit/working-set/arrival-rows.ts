import type { GroupArrival } from "../../../../task/group.ts"
import type { GroupId } from "../../../../task/id.ts"
import { type Changed, createLog, createMemory, type UndoLog } from "./memory.ts"
import { missing, toKey } from "./wants.ts"

export interface ArrivalEntry {
  readonly group: GroupId
  readonly task: number
  readonly arrival: GroupArrival
}

/** The arrivals of groups: their number is enough for most, and may be near without them. */
export interface ArrivalRows {
  /** In the order of their tasks. */
  all(group: GroupId): readonly GroupArrival[]
  count(group: GroupId): number
  put(entry: ArrivalEntry): void
  remove(group: GroupId, task: number): void
  /** The group begins with none. */
  begin(group: GroupId): void
  removeAll(group: GroupId): void
  learnCount(group: GroupId, count: number): void
  /** All of a group. */
  learn(group: GroupId, entries: readonly ArrivalEntry[]): void
  /** Groups that lose what they have in the store. */
  removals(): readonly GroupId[]
  changes(): readonly Changed<ArrivalEntry>[]
  /** Those that are removed without having been near. */
  departures(): readonly Pick<ArrivalEntry, "group" | "task">[]
}

export function createArrivalRows(undo: UndoLog): ArrivalRows {
  const arrivals = createMemory<ArrivalEntry>(undo)
  const counts = createMemory<number>(undo)
  const wholeGroups = createMemory<true>(undo)
  const removals = createLog<GroupId>(undo)
  const departures = createLog<Pick<ArrivalEntry, "group" | "task">>(undo)

  function of(group: GroupId): readonly ArrivalEntry[] {
    return arrivals.values().filter((entry) => entry.group === group)
  }

  /** A number that is not near is not kept: whoever asks for it later makes it near first, and all happens again. */
  function addToCount(group: GroupId, by: 1 | -1): void {
    const known = counts.get(group)
    if (known !== undefined) counts.set(group, known + by)
  }

  return {
    all(group) {
      if (!wholeGroups.isKnown(group)) throw missing("arrivals", group)
      return of(group)
        .toSorted((one, other) => one.task - other.task)
        .map(({ arrival }) => arrival)
    },
    count(group) {
      const count = counts.get(group)
      if (count === undefined) throw missing("arrivalCount", group)
      return count
    },
    /** A task that ends has no arrival in a group that still counts: beginning its run has taken it away. */
    put(entry) {
      const place = toKey([entry.group, entry.task])
      if (!arrivals.get(place)) addToCount(entry.group, 1)
      arrivals.set(place, entry)
    },
    remove(group, task) {
      const place = toKey([group, task])
      if (arrivals.isKnown(place) && !arrivals.get(place)) return
      departures.add({ group, task })
      addToCount(group, -1)
      arrivals.set(place, undefined)
    },
    begin(group) {
      counts.set(group, 0)
      wholeGroups.set(group, true)
    },
    removeAll(group) {
      removals.add(group)
      for (const { task } of of(group)) arrivals.set(toKey([group, task]), undefined)
      counts.set(group, 0)
      wholeGroups.set(group, true)
    },
    learnCount: counts.learn,
    learn(group, entries) {
      wholeGroups.learn(group, true)
      counts.learn(group, entries.length)
      for (const entry of entries) arrivals.learn(toKey([group, entry.task]), entry)
    },
    removals: removals.entries,
    changes: arrivals.changes,
    departures: departures.entries,
  }
}
