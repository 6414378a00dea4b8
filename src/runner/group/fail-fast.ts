import type { GroupRecord } from "../../task/group.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { TaskRecord } from "../../task/record.ts"
import { cancelTask } from "../stop/cancel.ts"
import type { CancelScope, HasStore } from "../run/scope.ts"
import { listMembers } from "./group-members.ts"

const REASON = "its group ends with the first member that does not complete"

/**
 * Stops the live members of a group that one member has failed. Dying anywhere in between leaves the failed arrival and
 * the live members in the store: the next look goes on.
 */
export async function failFast(scope: CancelScope, group: GroupRecord): Promise<void> {
  if (!group.failFast || (group.state !== "open" && group.state !== "sealed")) return
  const failed = await findFailed(scope, group)
  if (!failed) return
  const reason = `${REASON}: ${failed.title} (${failed.id.slice(0, 8)}) ended ${failed.status}`
  for (const { id } of await listMembers(scope, group.id, LIVE_STATUSES)) {
    const member = await scope.store.task(id)
    if (member) await cancelTask(scope, member, { by: "limit", reason })
  }
}

/** A member that was itself stopped for another is no reason: the other may run again meanwhile. */
async function findFailed({ store }: HasStore, { arrivals }: GroupRecord): Promise<TaskRecord | undefined> {
  for (const { taskId, status } of arrivals) {
    if (status === "completed") continue
    const task = await store.task(taskId)
    if (task && task.status === status && !isStoppedForAnother(task)) return task
  }
  return undefined
}

function isStoppedForAnother(task: TaskRecord): boolean {
  return task.status === "cancelled" && task.stop.by === "limit" && task.stop.reason.startsWith(REASON)
}
