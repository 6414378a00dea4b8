import type { GroupId, SessionId, TaskId, WorkspaceId } from "./id.ts"
import type { TerminalStatus } from "./lifecycle.ts"

export type GroupJoin = "all" | "any" | number
export type GroupReport = "combined" | "each" | "none"
export type MergeStrategy = "append" | "replace" | "human_gated"

/** Fields fixed at the creation of a group. */
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
  /** One for each member that has ended, however often it was retried; none for a member that runs again before the join. */
  readonly arrivals: readonly GroupArrival[]
}

/** A group's knowledge of which members live. While it stays the same, so do the live members. */
export type GroupMembership = Pick<GroupRecord, "memberCount" | "arrivals">

export interface GroupArrival {
  readonly taskId: TaskId
  readonly run: number
  readonly status: TerminalStatus
}

export function canMoveGroup(from: GroupState, to: GroupState): boolean {
  const ways: readonly string[] = GROUP_LIFECYCLE[from]
  return ways.includes(to)
}

/** True if between the two no member has entered, ended, left or begun a new run. */
export function isSameMembership(one: GroupMembership, other: GroupMembership): boolean {
  if (one.memberCount !== other.memberCount || one.arrivals.length !== other.arrivals.length) return false
  const runs = new Map(one.arrivals.map(({ taskId, run }) => [taskId, run]))
  return other.arrivals.every(({ taskId, run }) => runs.get(taskId) === run)
}

/** True if enough members have ended. An open group may still get members and is never joined. */
export function isJoinMet(group: GroupStanding): boolean {
  return group.state === "sealed" && hasEnoughArrivals(group)
}

/** True if enough of the present members have ended, even if the group may still get others. */
export function hasEnoughArrivals({ join, memberCount, arrivals }: Omit<GroupStanding, "state">): boolean {
  const wanted = join === "all" ? memberCount : Math.min(join === "any" ? 1 : join, memberCount)
  return arrivals.length >= wanted
}

export type GroupStanding = Pick<GroupRecord, "state" | "join" | "memberCount"> & {
  readonly arrivals: { readonly length: number }
}
