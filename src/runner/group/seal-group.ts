import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { GroupRecord } from "../../task/group.ts"
import type { SessionId } from "../../task/id.ts"
import type { HasStore } from "../run/scope.ts"

const MOST_AT_ONCE = 1_000

/** Takes no more members. What is sealed or joined already is returned as it is. */
export async function sealGroup({ store }: HasStore, group: GroupRecord): Promise<GroupRecord> {
  if (group.state === "cancelled") {
    const message = `The group ${group.name} was cancelled and cannot be sealed. Open another one.`
    throw new MeanwhileError("wrong_state", message, { groupId: group.id, state: group.state })
  }
  if (group.state !== "open") return group
  try {
    const [sealed] = await store.commit([{ op: "group.move", groupId: group.id, to: "sealed" }])
    return sealed
  } catch (error) {
    // Somebody else was first, and what they did stands.
    const found = isMeanwhileError(error, "wrong_state") ? await store.group(group.id) : undefined
    if (!found || found.state === "open") throw error
    return found
  }
}

/** After a turn nobody adds to the groups that it opened: they join as they are. */
export async function sealOpenGroups(scope: HasStore, session: SessionId): Promise<readonly GroupRecord[]> {
  const open = await scope.store.groups({ session, states: ["open"] }, MOST_AT_ONCE)
  const sealed: GroupRecord[] = []
  for (const group of open) sealed.push(await sealGroup(scope, group))
  return sealed
}
