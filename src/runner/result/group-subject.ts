import { MeanwhileError } from "../../base/error.ts"
import type { WaitAnswer, WaitRequest } from "../../plugin/wait-request.ts"
import { type GroupRecord, hasEnoughArrivals } from "../../task/group.ts"
import type { GroupId, TaskId } from "../../task/id.ts"
import { isTerminal, LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import { findGate, isGated, openGate } from "../group/gate.ts"
import { listMembers, readMembers } from "../group/find-group.ts"
import type { HasActive, HasStore, HasWritten, WaitScope } from "../run/scope.ts"
import { isAskingBelow, mayBeQuestion, needsAnswer, type WaitSubject } from "./wait-subject.ts"

const LOOKED_AT = 100

export interface GroupWait {
  readonly until: WaitRequest["until"]
  /** True: the members of an open group count, since the waiting run could seal it. */
  readonly countsOpen: boolean
}

export function createGroupSubject(scope: WaitScope & HasWritten, { id }: GroupRecord, wait: GroupWait): WaitSubject {
  const { store } = scope
  const watched = new Set<TaskId>()

  async function readGroup(): Promise<GroupRecord> {
    const group = await store.group(id)
    if (!group) throw new MeanwhileError("not_found", `The group ${id} was removed.`, { groupId: id })
    return group
  }

  async function look(): Promise<WaitAnswer["reason"] | null> {
    const group = await readGroup()
    if (group.state === "cancelled") return "cancelled"
    if (group.merge === "human_gated" && group.state === "joined") return lookAtGate(group)
    if (group.merge !== "human_gated" && isMet(group, wait)) return "met"
    if (watched.size < group.memberCount) for (const member of await listMembers(scope, id)) watched.add(member.id)
    return (await isStuck(scope, id)) ? "needs_answer" : null
  }

  /** One person decides for all members: their results are not told before that. */
  async function lookAtGate(group: GroupRecord): Promise<WaitAnswer["reason"] | null> {
    if (!isGated(group)) return "met"
    const gate = await openGate(scope, group)
    watched.add(gate.id)
    if (isTerminal(gate.status)) return "met"
    return needsAnswer(gate) ? "needs_answer" : null
  }

  return {
    hear: (wake) =>
      wake.about === "unknown" ||
      mayBeQuestion(wake) ||
      (wake.about === "group" && wake.groupId === id) ||
      (wake.about === "task" && watched.has(wake.taskId)),
    look,
    async read() {
      const group = await readGroup()
      const members = await readMembers(scope, id)
      if (group.merge !== "human_gated") return { tasks: members, group }
      return { ...toGatedTasks(await findGate(store, group), members), group }
    },
  }
}

/** Results that were rejected are settled, and are not shown. */
function toGatedTasks(gate: TaskRecord | undefined, members: readonly TaskRecord[]) {
  if (!gate) return { tasks: [] }
  if (gate.status === "completed") return { tasks: [gate, ...members] }
  return { tasks: [gate], settled: isTerminal(gate.status) ? members : [] }
}

/** An open group may get more members but never fewer ends: a wait for some ends is met by them, sealed or not. */
function isMet(group: GroupRecord, { until, countsOpen }: GroupWait): boolean {
  if (group.state === "joined" && until === undefined) return true
  const counts = group.state !== "open" || (countsOpen && group.memberCount > 0)
  if (counts && hasEnoughArrivals({ ...group, join: until ?? group.join })) return true
  if (until === undefined || until === "all") return false
  return group.arrivals.length >= (until === "any" ? 1 : until)
}

async function isStuck(scope: HasStore & HasActive, group: GroupId): Promise<boolean> {
  const page = { limit: LOOKED_AT }
  const waiting = await scope.store.tasks({ group, statuses: ["waiting"] }, page)
  if (waiting.items.some(needsAnswer)) return true
  const agents = await scope.store.tasks({ group, statuses: LIVE_STATUSES, kinds: ["agent"] }, page)
  return isAskingBelow(scope, agents.items)
}
