import type { GroupId, SessionId, TaskId, WorkspaceId } from "./id.ts"
import type { TerminalStatus } from "./lifecycle.ts"

export type GroupJoin = "all" | "any" | number
export type GroupReport = "combined" | "each" | "none"
export type MergeStrategy = "append" | "replace" | "human_gated"

/** What is fixed when a group is made. */
export interface GroupDetails {
  readonly id: GroupId
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  readonly name: string
  readonly join: GroupJoin
  readonly failFast: boolean
  readonly report: GroupReport
  readonly merge: MergeStrategy
}

/** Open groups take members; a sealed one takes none; joined and cancelled are final. */
export const GROUP_LIFECYCLE = {
  open: ["sealed", "cancelled"],
  sealed: ["joined", "cancelled"],
  joined: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>

export type GroupState = keyof typeof GROUP_LIFECYCLE

export type GroupRecord = GroupDetails & {
  readonly state: GroupState
  readonly createdAt: number
  readonly memberCount: number
  /** One per member that ended, however often it was retried. */
  readonly arrivals: readonly GroupArrival[]
}

export interface GroupArrival {
  readonly taskId: TaskId
  readonly run: number
  readonly status: TerminalStatus
}

export function canMoveGroup(from: GroupState, to: GroupState): boolean {
  const ways: readonly string[] = GROUP_LIFECYCLE[from]
  return ways.includes(to)
}

/** Whether enough of its members have ended. An open group may still get members, and is never joined. */
export function isJoinMet({ state, join, memberCount, arrivals }: GroupStanding): boolean {
  if (state !== "sealed") return false
  const wanted = join === "all" ? memberCount : Math.min(join === "any" ? 1 : join, memberCount)
  return arrivals.length >= wanted
}

type GroupStanding = Pick<GroupRecord, "state" | "join" | "memberCount"> & {
  readonly arrivals: { readonly length: number }
}
