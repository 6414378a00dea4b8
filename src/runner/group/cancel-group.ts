import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { StopRequest } from "../../plugin/stop-request.ts"
import type { GroupRecord } from "../../task/group.ts"
import { STOPPABLE_STATUSES } from "../../task/lifecycle.ts"
import { toStop, toStopCause, watchStops } from "../stop/cancel.ts"
import { applyStoredStops } from "../stop/stored-stops.ts"
import type { CancelScope } from "../run/scope.ts"
import { listMembers } from "./find-group.ts"

/**
 * Cancels the group and stops its live members, with all that is below them, in one transaction: after a crash either all
 * of it has happened or nothing. A member that enters meanwhile is stopped with the others, or refused when it comes later.
 * Every wait for the group is released. A group that was cancelled already is returned as it is. If the group is joined,
 * the members that it did not wait for are stopped.
 */
export async function cancelGroup(
  scope: CancelScope,
  group: GroupRecord,
  request: StopRequest = {},
): Promise<GroupRecord> {
  const cause = toStopCause(scope, { reason: `its group ${group.name} was cancelled`, ...request })
  for (;;) {
    const current = await scope.store.group(group.id)
    if (!current || current.state === "cancelled") return current ?? group
    const live = await listMembers(scope, group.id, STOPPABLE_STATUSES)
    const isJoined = current.state === "joined"
    if (isJoined && live.length === 0) {
      const { id, name, state, merge } = current
      const instead = merge === "human_gated" ? " Reject its results instead." : ""
      const message = `The group ${name} is joined: its members have ended, and there is nothing to cancel.${instead}`
      throw new MeanwhileError("wrong_state", message, { groupId: id, state })
    }
    const move = { op: "group.move", groupId: group.id, to: "cancelled", ifMembers: current } as const
    try {
      await scope.store.commit([...(isJoined ? [] : [move]), ...live.map((member) => toStop(scope, member, cause))])
      await applyStoredStops(scope)
      await watchStops(scope, live)
      return (await scope.store.group(group.id)) ?? current
    } catch (error) {
      // A member entered or moved on between the look and the commit: looks at the members again.
      if (!isMeanwhileError(error, "wrong_state") && !isMeanwhileError(error, "not_found")) throw error
    }
  }
}
