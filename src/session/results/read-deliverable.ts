import { findGate } from "../../runner/group/gate.ts"
import { groupOfGate, TURN_PLUGIN } from "../../runner/tool/tool-source.ts"
import type { GroupRecord } from "../../task/group.ts"
import type { GroupId, TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { Notice } from "../../task/notice.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { NoticeFilter, TaskStore } from "../../task/store.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { restoredOf } from "../log/session-data.ts"
import { type Delivery, type EndedTask, isNothing, NOTHING_TO_TELL, type WaitingTask } from "./delivery.ts"
import { sortEnds } from "./sort-ends.ts"
import type { Using } from "../conversation/scope.ts"

/** The most notices that are told at once. Others come with the next delivery. */
const MOST_AT_ONCE = 2_000
/** The most notices that are looked at: held and silent ones may come first. */
const MOST_LOOKED_AT = 64_000

/** The results that the session's model can be told now. */
export async function readDeliverable(scope: Using<"store">, { log }: Conversation): Promise<Delivery> {
  for (let most = MOST_AT_ONCE; ; most *= 2) {
    const notices = await readUnused(scope.store, log, most)
    const delivery = await toDelivery(scope, log, notices)
    if (!isNothing(delivery) || notices.length < most || most >= MOST_LOOKED_AT) return delivery
  }
}

async function toDelivery(
  scope: Using<"store">,
  log: Conversation["log"],
  notices: readonly Notice[],
): Promise<Delivery> {
  const restored = restoredOf(log.data)
  if (notices.length === 0) return restored.length === 0 ? NOTHING_TO_TELL : { ...NOTHING_TO_TELL, restored }
  const found = await Promise.all(notices.map((notice) => readTask(scope.store, notice)))
  const ended = found.filter((one) => one.key.kind === "ended")
  const gone = ended.filter(({ task, notify }) => task === undefined && notify !== "silent")
  const known = ended.filter((one): one is EndedTask => one.task !== undefined)
  const groups = await readGroups(scope.store, known)
  const gates = await readGates(scope.store, known, groups)
  const used = await readUsed(scope.store, known, groups)
  const sorted = sortEnds({ ended: known, groups, gates, used })
  const { waiting, told } = sortWaiting(found)
  const passed = [...sorted.passed, ...told, ...gone.map(({ key }) => key)]
  return { ...sorted, waiting, restored, passed }
}

/** Unused notices: pending ones, and those whose claimant ended without using them. */
export async function readUnused(
  store: TaskStore,
  { id, workspace }: Pick<Conversation["log"], "id" | "workspace">,
  most = MOST_AT_ONCE,
): Promise<readonly Notice[]> {
  const found = await readOldest(store, { workspace, session: id, states: ["pending", "claimed"] }, most)
  if (found.every(({ state }) => state === "pending")) return found
  const isFree = await Promise.all(found.map((notice) => isUnclaimed(store, notice)))
  return found.filter((_, index) => isFree[index])
}

/** Silent notices stay pending: they must not hide the notices after them. */
async function readOldest(store: TaskStore, filter: NoticeFilter, most: number): Promise<readonly Notice[]> {
  const oldest = await store.notices(filter, most)
  if (oldest.length < most) return oldest
  const silent = oldest.filter(({ notify }) => notify === "silent")
  const told = await store.notices({ ...filter, notify: ["wake", "next_turn"] }, most)
  return [...silent, ...told].toSorted((one, other) => one.at - other.at)
}

async function isUnclaimed(store: TaskStore, notice: Notice): Promise<boolean> {
  if (notice.state !== "claimed") return true
  const claimant = await store.task(notice.claimedBy.taskId)
  return !claimant || claimant.run !== notice.claimedBy.run || isTerminal(claimant.status)
}

type FoundTask = Omit<EndedTask, "task"> & { readonly task: TaskRecord | undefined }

async function readTask(store: TaskStore, notice: Notice): Promise<FoundTask> {
  const { taskId, run, kind, notify, at, traceId } = notice
  return { key: { taskId, run, kind }, notify, at, traceId, task: await store.run(taskId, run) }
}

/**
 * A call that needs an approval has said so in its answer. A question or a gate, which waits from its start, and a task
 * that waits in the middle of its run have told nobody.
 */
function sortWaiting(found: readonly FoundTask[]) {
  const asking = found.filter(({ key, notify }) => key.kind === "needs_answer" && notify !== "silent")
  const isTold = ({ task }: FoundTask): boolean =>
    task?.status !== "waiting" || (task.startedAt === null && task.plugin !== TURN_PLUGIN)
  const waiting = asking.filter((one): one is FoundTask & WaitingTask => !isTold(one))
  return { waiting: waiting.map(({ key, task }) => ({ key, task })), told: asking.filter(isTold).map(({ key }) => key) }
}

async function readGroups(store: TaskStore, ended: readonly EndedTask[]): Promise<ReadonlyMap<GroupId, GroupRecord>> {
  const ids = new Set(ended.flatMap(({ task }) => [task.group, groupOfGate(task)].filter((id) => id !== null)))
  const groups = await Promise.all([...ids].map((id) => store.group(id)))
  return new Map(groups.flatMap((group) => (group ? [[group.id, group]] : [])))
}

/** The gates of the groups that a person decides about. */
async function readGates(
  store: TaskStore,
  ended: readonly EndedTask[],
  groups: ReadonlyMap<GroupId, GroupRecord>,
): Promise<ReadonlyMap<GroupId, TaskRecord>> {
  const gates = new Map<GroupId, TaskRecord>()
  for (const group of groups.values()) {
    if (group.merge !== "human_gated") continue
    const here = ended.find(({ task }) => groupOfGate(task) === group.id)?.task
    const gate = here ?? (await findGate(store, group))
    if (gate) gates.set(group.id, gate)
  }
  return gates
}

/** Members that have ended and were used before: a report of the group names them. */
async function readUsed(
  store: TaskStore,
  ended: readonly EndedTask[],
  groups: ReadonlyMap<GroupId, GroupRecord>,
): Promise<ReadonlyMap<TaskId, TaskRecord>> {
  const here = new Set(ended.map(({ task }) => task.id))
  const told = [...groups.values()].filter(({ report, state }) => report === "combined" && state === "joined")
  const others = told.flatMap(({ arrivals }) => arrivals.filter(({ taskId }) => !here.has(taskId)))
  const tasks = await Promise.all(others.map(({ taskId }) => store.task(taskId)))
  return new Map(tasks.flatMap((task) => (task ? [[task.id, task]] : [])))
}
