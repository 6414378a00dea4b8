import { MeanwhileError } from "../base/error.ts"
import type { GroupFilter, GroupService } from "../plugin/group-service.ts"
import type { StopRequest } from "../plugin/stop-request.ts"
import type { GroupRecord } from "../task/group.ts"
import type { WorkspaceId } from "../task/id.ts"

const CANDIDATES_SHOWN = 5

/** The groups of one workspace. */
export interface DeskGroups {
  /** Newest first. */
  list(filter: Omit<GroupFilter, "workspace">): Promise<readonly GroupRecord[]>
  /**
   * Finds a group by its name, in any case, or by the first characters of its id. Of several, one that has not ended goes
   * first; refused as `ambiguous_id` if several have not ended. Undefined if there is none.
   */
  find(wanted: string): Promise<GroupRecord | undefined>
  /** Takes no more members; joins at once when enough of them have ended. */
  seal(id: string): Promise<GroupRecord>
  /** Stops the members that live, and releases whatever waits for the group. */
  cancel(id: string, request?: StopRequest): Promise<GroupRecord>
}

export function createDeskGroups(workspace: WorkspaceId, groups: GroupService): DeskGroups {
  return {
    list: (filter) => groups.list({ ...filter, workspace }),
    find: async (wanted) => selectGroup(await groups.list({ workspace }), wanted),
    seal: (id) => groups.seal(id, { workspace }),
    cancel: (id, request) => groups.cancel(id, request, { workspace }),
  }
}

function selectGroup(groups: readonly GroupRecord[], wanted: string): GroupRecord | undefined {
  const word = wanted.toLowerCase()
  const named = groups.filter(({ name }) => name.toLowerCase() === word)
  const found = named.length > 0 ? named : groups.filter(({ id }) => id.startsWith(word))
  const live = found.filter(({ state }) => state === "open" || state === "sealed")
  const [first, second] = live.length > 0 ? live : found
  if (!second || live.length === 0) return first
  const candidates = live.slice(0, CANDIDATES_SHOWN).map(({ id }) => id)
  const message = `Several groups go by ${JSON.stringify(wanted)}: ${candidates.join(", ")}. Give one of these ids.`
  throw new MeanwhileError("ambiguous_id", message, { candidates })
}
