import { type GroupRecord, hasEnoughArrivals } from "../../task/group.ts"
import type { GroupId, TaskId } from "../../task/id.ts"
import type { NoticeKey } from "../../task/notice.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { Delivery, EndedTask, ToldGroup } from "./delivery.ts"

/** Ends that were found, with what is known about their groups. */
export interface FoundEnds {
  readonly ended: readonly EndedTask[]
  readonly groups: ReadonlyMap<GroupId, GroupRecord>
  /** Members of those groups that have ended and are not among the ends. */
  readonly used: ReadonlyMap<TaskId, TaskRecord>
  /** The gate of each gated group, by group, whether it is among the ends or not. */
  readonly gates: ReadonlyMap<GroupId, TaskRecord>
}

export type SortedEnds = Pick<Delivery, "tasks" | "groups" | "passed">

/**
 * Sorts ends into those told singly and those told together. Not told now are silent ends, and members of groups that
 * report nothing, are not joined, or wait for a person's decision.
 */
export function sortEnds({ ended, groups, used, gates }: FoundEnds): SortedEnds {
  const told = ended.filter(({ notify }) => notify !== "silent")
  const gateIds = new Set([...gates.values()].map(({ id }) => id))
  const singles: EndedTask[] = []
  const members = new Map<GroupId, EndedTask[]>()
  for (const one of told) {
    const group = one.task.group === null ? undefined : groups.get(one.task.group)
    if (gateIds.has(one.task.id)) continue
    if (!group || (group.report === "each" && group.merge !== "human_gated")) singles.push(one)
    else if (group.report !== "none") members.set(group.id, [...(members.get(group.id) ?? []), one])
  }
  const passed: NoticeKey[] = []
  const joined: ToldGroup[] = []
  for (const group of groups.values()) {
    const gate = gates.get(group.id)
    const decision = (gate && told.find(({ task }) => task.id === gate.id)) ?? null
    const own = members.get(group.id) ?? []
    if (own.length === 0 && !decision) continue
    const verdict = judge(group, gate, decision !== null)
    if (verdict === "hold") continue
    if (verdict === "reject") passed.push(...own.map(({ key }) => key))
    joined.push(toToldGroup(group, verdict === "reject" ? [] : own, { decision, used }))
  }
  const { kept, replaced } = replaceEarlier(joined.filter(({ members: own, decision }) => own.length > 0 || decision))
  return { tasks: singles, groups: kept, passed: [...passed, ...replaced] }
}

/** Results that a person turned down are not shown. */
function judge(group: GroupRecord, gate: TaskRecord | undefined, isDecided: boolean): "tell" | "hold" | "reject" {
  // Some members had ended and others are being stopped: all are told at once.
  if (group.state === "cancelled") return group.arrivals.length < group.memberCount ? "hold" : "tell"
  if (group.state !== "joined") return "hold"
  if (group.merge !== "human_gated") return "tell"
  if (!gate) return "hold"
  if (gate.status === "completed") return "tell"
  const isOver = isDecided || gate.status === "cancelled" || gate.status === "timed_out" || gate.status === "failed"
  return isOver ? "reject" : "hold"
}

function toToldGroup(
  group: GroupRecord,
  members: readonly EndedTask[],
  { decision, used }: { readonly decision: EndedTask | null; readonly used: FoundEnds["used"] },
): ToldGroup {
  const now = new Set(members.map(({ task }) => task.id))
  const place = ({ task }: EndedTask): number => group.arrivals.findIndex(({ taskId }) => taskId === task.id)
  const inOrder = members.toSorted((one, other) => place(one) - place(other))
  const before = group.arrivals.filter(({ taskId }) => !now.has(taskId))
  const known = before.flatMap(({ taskId }) => used.get(taskId) ?? [])
  const isLate = decision === null && group.state === "joined" && hasEnoughArrivals({ ...group, arrivals: before })
  return { group, members: inOrder, used: known, decision, isLate }
}

/** A joined group that replaces makes the unused results of earlier groups of its name void. */
function replaceEarlier(joined: readonly ToldGroup[]) {
  const isReplaced = ({ group }: ToldGroup): boolean =>
    joined.some(
      ({ group: other }) =>
        other.merge === "replace" &&
        other.state === "joined" &&
        other.name === group.name &&
        (other.createdAt > group.createdAt || (other.createdAt === group.createdAt && other.id > group.id)),
    )
  const replaced = joined.filter(isReplaced).flatMap(({ members }) => members.map(({ key }) => key))
  return { kept: joined.filter((one) => !isReplaced(one)), replaced }
}
