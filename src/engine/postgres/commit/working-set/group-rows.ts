import type { GroupRecord } from "../../../../task/group.ts"
import type { GroupId, SessionId } from "../../../../task/id.ts"
import type { GroupTable } from "../../../rules/tables.ts"
import { type ArrivalRows, createArrivalRows } from "./arrival-rows.ts"
import { type Changed, createMemory, type UndoLog } from "./memory.ts"
import { existsAlready } from "./task-rows.ts"
import { Missing, missing, want } from "./wants.ts"

export type GroupEntry = Omit<GroupRecord, "arrivals">

export interface GroupRows {
  readonly table: GroupTable
  readonly arrivals: ArrivalRows
  learn(id: GroupId, group: GroupEntry | undefined): void
  /** All groups of the session are learned. */
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

  /** For those who will want to know how many have arrived. */
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
