import { parseSessionData } from "../../../src/session/log/session-data.ts"
import type { SessionId } from "../../../src/task/id.ts"
import type { GroupRecord } from "../../../src/task/group.ts"
import type { TaskRecord } from "../../../src/task/record.ts"
import type { TaskStore } from "../../../src/task/store.ts"
import { type DeliveryPlan, toSessionId } from "./delivery-plan.ts"

const MOST_NOTICES = 1_000
/** The default of `reports.maxHops`. */
const MOST_HOPS = 2

/** Ends that the agent should have reported by itself, in conversations where nothing goes on. */
export async function findOverdue(store: TaskStore, plan: DeliveryPlan): Promise<readonly string[]> {
  const reporting = plan.sessions.flatMap(({ reports }, index) => (reports ? [toSessionId(plan, index)] : []))
  const found = await Promise.all(reporting.map((session) => findOverdueIn(store, plan, session)))
  return found.flat()
}

async function findOverdueIn(store: TaskStore, plan: DeliveryPlan, session: SessionId): Promise<readonly string[]> {
  const record = await store.session(session)
  if (record && (parseSessionData(record.data).wakes ?? 0) >= plan.maxConsecutiveWakes) return []
  const notices = await store.notices({ session, states: ["pending", "claimed"] }, MOST_NOTICES)
  const overdue: string[] = []
  for (const { taskId, run, kind, notify } of notices) {
    if (kind !== "ended" || notify !== "wake") continue
    const task = await store.task(taskId)
    const group = task?.group ? await store.group(task.group) : undefined
    if (task && isDue(task, group)) overdue.push(`${task.title}/${run} is ${task.status} and was not told by itself`)
  }
  return overdue
}

/** True if a report is due beyond doubt. What is left of an `any` group, for one, may come with the next thing that is told. */
function isDue(task: TaskRecord, group: GroupRecord | undefined): boolean {
  const isFar = Number(task.metadata["hops"] ?? 0) + 1 > MOST_HOPS
  const isQuiet = task.status === "cancelled" && ["model", "lifetime", "shutdown"].includes(task.stop.by)
  if (isFar || isQuiet) return false
  if (!group) return true
  if (group.report !== "combined" || group.merge === "human_gated") {
    return group.report === "each" && group.merge !== "human_gated"
  }
  return group.join === "all" && task.run === 1 && (group.state === "joined" || group.state === "cancelled")
}
