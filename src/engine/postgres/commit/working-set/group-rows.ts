import type { GroupRecord, GroupArrival } from "../../../../task/group.ts"
import type { GroupId, SessionId } from "../../../../task/id.ts"
import type { GroupTable } from "../../../rules/tables.ts"
import { type Changed, createMemory, type UndoLog, createLog } from "./memory.ts"
import { existsAlready } from "./task-rows.ts"
import { Missing, missing, want, toKey } from "./wants.ts"

export type GroupEntry = Omit<GroupRecord, "arrivals">

export interface GroupRows {
  readonly table: GroupTable
  readonly arrivals: ArrivalRows
  learn(id: GroupId, group: GroupEntry | undefined): void
  /** Records that all groups of the session are learned. */
  learnSession(session: SessionId): void
  isKnown(id: GroupId): boolean
  changes(): readonly Changed<GroupEntry>[]
}

export function createGroupRows(undo: UndoLog): GroupRows {
  const groups = createMemory<GroupEntry>(undo)
  const sessions = createMemory<true>(undo)
  const arrivals = createArrivalRows(undo)

  function get(id: GroupId): GroupEntry | undefined {
    if (!groups.isKnown(id)) throw missing("group", id)
    return groups.get(id)
  }

  /** Like `get`, for callers who will also ask for the number of arrivals: both are loaded at once. */
  function getToCount(id: GroupId): GroupEntry | undefined {
    if (groups.isKnown(id)) return groups.get(id)
    throw new Missing((wants) => {
      want(wants, "group", id)
      want(wants, "arrivalCount", id)
    })
  }

  function change(id: GroupId, changed: (group: GroupEntry) => Partial<GroupEntry>): void {
    const group = get(id)
    if (group) groups.set(id, { ...group, ...changed(group) })
  }

  const table: GroupTable = {
    find(id) {
      const group = get(id)
      return group && { ...group, arrivals: arrivals.all(id) }
    },
    entryOf: get,
    isSilent: (id) => getToCount(id)?.report === "none",
    standingOf(id) {
      const group = getToCount(id)
      if (!group) return undefined
      const { session, state, join, memberCount } = group
      return { session, state, join, memberCount, arrivals: { length: state === "sealed" ? arrivals.count(id) : 0 } }
    },
    insert(details, createdAt) {
      if (groups.get(details.id)) throw existsAlready("group", details.id)
      const { id, workspace, session, name, join, failFast, report, merge } = details
      const given = { id, workspace, session, name, join, failFast, report, merge }
      groups.set(id, { ...given, state: "open", createdAt, memberCount: 0 })
      arrivals.begin(id)
    },
    move: (id, state) => change(id, () => ({ state })),
    readdress: (id, from, to) => change(id, ({ session }) => ({ session: session === from ? to : session })),
    addMember: (id) => change(id, ({ memberCount }) => ({ memberCount: memberCount + 1 })),
    arrive: (group, task, arrival) => arrivals.put({ group, task, arrival }),
    depart(id, task) {
      if (isUnfinished(get(id))) arrivals.remove(id, task)
    },
    removeMember(id, task) {
      arrivals.remove(id, task)
      change(id, ({ memberCount }) => ({ memberCount: memberCount - 1 }))
      const group = get(id)
      if (group && group.session === null && group.memberCount === 0 && !isUnfinished(group)) groups.set(id, undefined)
    },
    removeOfSession(session) {
      if (!sessions.isKnown(session)) throw missing("groupsOfSession", session)
      const ids = groups
        .values()
        .filter((group) => group.session === session)
        .map(({ id }) => id)
      for (const id of ids) {
        arrivals.removeAll(id)
        groups.set(id, undefined)
      }
      return ids
    },
  }

  return {
    table,
    arrivals,
    learn: groups.learn,
    learnSession: (session) => sessions.learn(session, true),
    isKnown: groups.isKnown,
    changes: groups.changes,
  }
}

function isUnfinished(group: GroupEntry | undefined): boolean {
  return group?.state === "open" || group?.state === "sealed"
}

export interface ArrivalEntry {
  readonly group: GroupId
  readonly task: number
  readonly arrival: GroupArrival
}

/** The arrivals of groups. Most rules need their number alone, which may be loaded without the arrivals. */
interface ArrivalRows {
  /** In the order of their tasks. */
  all(group: GroupId): readonly GroupArrival[]
  count(group: GroupId): number
  put(entry: ArrivalEntry): void
  remove(group: GroupId, task: number): void
  /** A new group has no arrivals. */
  begin(group: GroupId): void
  removeAll(group: GroupId): void
  learnCount(group: GroupId, count: number): void
  /** Learns all arrivals of a group. */
  learn(group: GroupId, entries: readonly ArrivalEntry[]): void
  /** Groups whose stored arrivals are all removed. */
  removals(): readonly GroupId[]
  changes(): readonly Changed<ArrivalEntry>[]
  /** Single arrivals that are removed, loaded or not. */
  departures(): readonly Pick<ArrivalEntry, "group" | "task">[]
}

function createArrivalRows(undo: UndoLog): ArrivalRows {
  const arrivals = createMemory<ArrivalEntry>(undo)
  const counts = createMemory<number>(undo)
  const wholeGroups = createMemory<true>(undo)
  const removals = createLog<GroupId>(undo)
  const departures = createLog<Pick<ArrivalEntry, "group" | "task">>(undo)

  function of(group: GroupId): readonly ArrivalEntry[] {
    return arrivals.values().filter((entry) => entry.group === group)
  }

  /** Changes a count only if it was loaded. Rules that ask for one that was not, load it first and then run again. */
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
    /** A task that ends has no earlier arrival in an unfinished group: the beginning of its run has removed it. */
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
