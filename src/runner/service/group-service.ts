import type { GroupService } from "../../plugin/group-service.ts"
import type { GroupRecord } from "../../task/group.ts"
import { DEFAULT_WORKSPACE } from "../../task/id.ts"
import type { CancelScope } from "../run/scope.ts"
import type { DetailsScope } from "../admit/scope.ts"
import { cancelGroup } from "../group/cancel-group.ts"
import { decideGate, requireGate } from "../ask/decide-gate.ts"
import { findGroup } from "../group/find-group.ts"
import { checkGroupRequest, openGroup, sealGroup } from "../group/open-group.ts"

const MOST_LISTED = 1_000

export function createGroupService(scope: CancelScope & DetailsScope): GroupService {
  const opening = new Map<string, Promise<unknown>>()

  /** One after the other by name, so that two calls that begin a group at once begin one. */
  async function inTurn(key: string, open: () => Promise<GroupRecord>): Promise<GroupRecord> {
    const before = opening.get(key) ?? Promise.resolve()
    const opened = before.then(open, open)
    opening.set(key, opened)
    try {
      return await opened
    } finally {
      if (opening.get(key) === opened) opening.delete(key)
    }
  }

  return {
    async open(request) {
      checkGroupRequest(scope, request)
      const key = JSON.stringify([request.workspace ?? DEFAULT_WORKSPACE, request.session ?? null, request.name])
      return inTurn(key, () => openGroup(scope, request))
    },
    get: (id, filter) => findGroup(scope, id, filter),
    list: (filter = {}) =>
      scope.store.groups({ ...filter, workspace: filter.workspace ?? DEFAULT_WORKSPACE }, MOST_LISTED),
    seal: async (id, filter) => sealGroup(scope, await findGroup(scope, id, filter)),
    cancel: async (id, request, filter) => cancelGroup(scope, await findGroup(scope, id, filter), request),
    gate: async (id, filter) => requireGate(scope, await findGroup(scope, id, filter)),
    async decide(id, decision, by, filter) {
      const group = await findGroup(scope, id, filter)
      await decideGate(scope, group, decision, by)
      return group
    },
  }
}
