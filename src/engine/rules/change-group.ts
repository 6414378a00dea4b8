import { MeanwhileError } from "../../base/error.ts"
import { canMoveGroup, type GroupRecord, isSameMembership } from "../../task/group.ts"
import type { GroupId } from "../../task/id.ts"
import type { Tables } from "./tables.ts"
import { type Handlers, wakeGroup, wakeSession } from "./change.ts"
import { joinWhenMet } from "./move-run.ts"
import { notFound, requireOwnSession } from "./refusal.ts"

export function createGroupHandlers(tables: Tables) {
  const { groups, sessions } = tables

  function requireGroup(id: GroupId): GroupRecord {
    const group = groups.find(id)
    if (!group) throw notFound("group", id)
    return group
  }

  return {
    "group.create"({ details }, change) {
      requireOwnSession(sessions, details)
      groups.insert(details, change.now)
      return requireGroup(details.id)
    },
    "group.move"({ groupId, to, ifMembers }, change) {
      const group = requireGroup(groupId)
      if (!canMoveGroup(group.state, to)) {
        const text = `Group ${groupId} is ${group.state} and cannot become ${to}. Read the group again before deciding.`
        throw new MeanwhileError("wrong_state", text, { groupId, state: group.state })
      }
      if (ifMembers && !isSameMembership(group, ifMembers)) {
        const text = `The members of group ${groupId} have changed meanwhile. Read the group again before deciding.`
        throw new MeanwhileError("wrong_state", text, { groupId, state: group.state })
      }
      groups.move(groupId, to)
      wakeSession(change, group.session)
      wakeGroup(change, groupId)
      return { ...group, state: joinWhenMet(tables, groupId, change) ? "joined" : to }
    },
  } satisfies Partial<Handlers>
}
