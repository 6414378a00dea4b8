import { MeanwhileError } from "../../base/error.ts"
import type { GroupService } from "../../plugin/group-service.ts"
import type { GroupRecord } from "../../task/group.ts"
import { DEFAULT_WORKSPACE } from "../../task/id.ts"
import type { Wait } from "../../task/wait.ts"
import type { DetailsScope } from "../admit/scope.ts"
import { answerWait } from "../ask/answer-wait.ts"
import { cancelGroup } from "../group/cancel-group.ts"
import { findGroup, toStoredGroups } from "../group/find-group.ts"
import { isGated, openGate } from "../group/gate.ts"
import { checkGroupRequest, openGroup, sealGroup } from "../group/open-group.ts"
import type { CancelScope, HasClock, HasConfig, HasStore, HasWritten } from "../run/scope.ts"

const MOST_LISTED = 1_000

export function createGroupService(scope: CancelScope & DetailsScope): GroupService {
  return {
    async open(request) {
      checkGroupRequest(scope, request)
      const key = JSON.stringify([request.workspace ?? DEFAULT_WORKSPACE, request.session ?? null, request.name])
      return scope.written.groupsByName(key, () => openGroup(scope, request))
    },
    get: (id, filter) => findGroup(scope, id, filter),
    list: async (filter = {}) => scope.store.groups(toStoredGroups(filter), MOST_LISTED),
    seal: async (id, filter) => sealGroup(scope, await findGroup(scope, id, filter)),
    cancel: async (id, request, filter) => cancelGroup(scope, await findGroup(scope, id, filter), request),
    gate: async (id, filter) => requireGate(scope, await findGroup(scope, id, filter)),
    /** The first answer counts, whether it came through this function or from the inbox. */
    async decide(id, decision, by, filter) {
      const group = await findGroup(scope, id, filter)
      const gate = await requireGate(scope, group)
      await answerWait(scope, gate.id, decision === "apply", by, group.workspace)
      return group
    },
  }
}

/** The wait that a person answers. Opened here if the group was joined a moment ago and nobody has opened it yet. */
async function requireGate(scope: HasStore & HasClock & HasConfig & HasWritten, group: GroupRecord): Promise<Wait> {
  if (!isGated(group)) {
    const standing = group.merge === "human_gated" ? `is ${group.state}` : `merges by ${group.merge}`
    throw wrongState(group, `The group ${group.name} ${standing}: it has no results that wait for a decision.`)
  }
  const gate = await openGate(scope, group)
  if (gate.status === "waiting") return gate.wait
  const verdict = gate.status === "cancelled" ? gate.stop.reason : "they were applied"
  throw wrongState(group, `The results of the group ${group.name} were decided on already: ${verdict}.`)
}

function wrongState({ id, state }: GroupRecord, message: string): MeanwhileError {
  return new MeanwhileError("wrong_state", message, { groupId: id, state })
}
