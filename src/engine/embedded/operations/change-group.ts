import { MeanwhileError } from "../../../base/error.ts"
import { canMoveGroup } from "../../../task/group.ts"
import type { GroupRecord } from "../../../task/group.ts"
import type { GroupId } from "../../../task/id.ts"
import type { Tables } from "../tables/tables.ts"
import { wakeSession } from "./change.ts"
import type { Handlers } from "./handler.ts"
import { notFound, requireOwnSession } from "./refusal.ts"

export function createGroupHandlers({ groups, sessions }: Tables): Pick<Handlers, "group.create" | "group.move"> {
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
    "group.move"({ groupId, to }, change) {
      const group = requireGroup(groupId)
      if (!canMoveGroup(group.state, to)) {
        const text = `Group ${groupId} is ${group.state} and cannot become ${to}. Read the group again before deciding.`
        throw new MeanwhileError("wrong_state", text, { groupId, state: group.state })
      }
      groups.move(groupId, to)
      wakeSession(change, group.session)
      return { ...group, state: to }
    },
  }
}
