import type { GroupJoin, GroupRecord, GroupReport, MergeStrategy } from "../task/group.ts"
import type { GroupFilter as StoredGroupFilter } from "../task/store.ts"
import type { Wait } from "../task/wait.ts"
import type { StopRequest } from "./stop-request.ts"

export interface GroupRequest {
  /** One line for people and for the model. A session has at most one open group of a name. */
  readonly name: string
  readonly workspace?: string
  /** The conversation that its report is addressed to. */
  readonly session?: string | null
  /** How many of its members must have ended before it is joined. Default `all`. */
  readonly join?: GroupJoin
  /** The first member that does not complete stops the others. Default false. */
  readonly failFast?: boolean
  /** Default `combined`: one report with the results of all members. */
  readonly report?: GroupReport
  /** Default `append`. */
  readonly merge?: MergeStrategy
}

export interface GroupFilter extends Pick<StoredGroupFilter, "states"> {
  readonly workspace?: string
  /** Null: groups without a session. */
  readonly session?: string | null
}

/** The commands over groups. An id may be any unambiguous prefix, or the name of a group of the session that asks. */
export interface GroupService {
  /** The open group of that name in the session, or a new one. */
  open(request: GroupRequest): Promise<GroupRecord>
  get(id: string, scope?: GroupFilter): Promise<GroupRecord>
  /** Newest first. */
  list(filter?: GroupFilter): Promise<readonly GroupRecord[]>
  /**
   * Closes the group to new members. It joins at once if enough members have ended. Sealing a sealed group changes
   * nothing.
   */
  seal(id: string, scope?: GroupFilter): Promise<GroupRecord>
  /** Stops the live members and releases everyone who waits for the group. */
  cancel(id: string, request?: StopRequest, scope?: GroupFilter): Promise<GroupRecord>
  /**
   * The question to a person about a `human_gated` group that has joined. Refused as `wrong_state` if no decision is
   * pending.
   */
  gate(id: string, scope?: GroupFilter): Promise<Wait>
  /**
   * Decides whether the results of a `human_gated` group are used. Refused as `wrong_state` unless the decision is
   * pending.
   */
  decide(id: string, decision: "apply" | "reject", by: string, scope?: GroupFilter): Promise<GroupRecord>
}
