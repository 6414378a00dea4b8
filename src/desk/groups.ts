import type { GroupFilter, GroupService } from "../plugin/group-service.ts"
import type { StopRequest } from "../plugin/stop-request.ts"
import type { GroupRecord } from "../task/group.ts"
import type { WorkspaceId } from "../task/id.ts"

/** The groups of one workspace. */
export interface DeskGroups {
  /** Newest first. */
  list(filter: Omit<GroupFilter, "workspace">): Promise<readonly GroupRecord[]>
  /** Takes no more members; joins at once when enough of them have ended. */
  seal(id: string): Promise<GroupRecord>
  /** Stops the members that live, and releases whatever waits for the group. */
  cancel(id: string, request: StopRequest): Promise<GroupRecord>
}

export function createDeskGroups(workspace: WorkspaceId, groups: GroupService): DeskGroups {
  return {
    list: (filter) => groups.list({ ...filter, workspace }),
    seal: (id) => groups.seal(id, { workspace }),
    cancel: (id, request) => groups.cancel(id, request, { workspace }),
  }
}
