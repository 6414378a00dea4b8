import { isJoinMet } from "../../task/group.ts"
import type { GroupId } from "../../task/id.ts"
import type { Tables } from "./tables.ts"
import { type Change, wakeSession } from "./change.ts"

/** Joins a sealed group once enough of its members have ended: in the transaction of the last of them, or of the seal. */
export function joinWhenMet({ groups }: Tables, id: GroupId, change: Change): boolean {
  const standing = groups.standingOf(id)
  if (!standing || !isJoinMet(standing)) return false
  groups.move(id, "joined")
  wakeSession(change, standing.session)
  return true
}
