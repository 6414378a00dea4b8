import type { GroupJoin, GroupRecord, GroupReport, MergeStrategy } from "../task/group.ts"
import type { SessionId, WorkspaceId } from "../task/id.ts"
import type { GroupFilter as StoredGroupFilter } from "../task/store.ts"
import type { Wait } from "../task/wait.ts"
import type { StopRequest } from "./stop-request.ts"

export interface GroupRequest {
  /** One line for people and for the model. Within a session one open group has it. */
  readonly name: string
  readonly workspace?: WorkspaceId
  /** The conversation that its report is addressed to. */
  readonly session?: SessionId | null
  /** How many of its members must have ended before it is joined. Default `all`. */
  readonly join?: GroupJoin
  /** The first member that does not complete stops the others. Default false. */
  readonly failFast?: boolean
  /** Default `combined`: one report with what every member came to. */
  readonly report?: GroupReport
  /** Default `append`. */
  readonly merge?: MergeStrategy
}

export type GroupFilter = Pick<StoredGroupFilter, "workspace" | "session" | "states">

/** The commands over groups. An id may be any unambiguous prefix, or the name of a group of the session that asks. */
export interface GroupService {
  /** The open group of that name in the session, or a new one. */
  open(request: GroupRequest): Promise<GroupRecord>
  get(id: string, scope?: GroupFilter): Promise<GroupRecord>
  /** Newest first. */
  list(filter?: GroupFilter): Promise<readonly GroupRecord[]>
  /** Takes no more members; joined at once when enough of them have ended. Sealing a sealed one changes nothing. */
  seal(id: string, scope?: GroupFilter): Promise<GroupRecord>
  /** Stops the live members and releases everyone who waits for the group. */
  cancel(id: string, request?: StopRequest, scope?: GroupFilter): Promise<GroupRecord>
  /**
   * The question to a person about a `human_gated` group that has joined. Refused as `wrong_state` if no decision is
   * pending.
   */
  gate(id: string, scope?: GroupFilter): Promise<Wait>
  /** Says whether what a `human_gated` group came to is used. Refused as `wrong_state` unless it waits for that. */
  decide(id: string, decision: "apply" | "reject", by: string, scope?: GroupFilter): Promise<GroupRecord>
}
