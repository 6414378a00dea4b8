import type { TaskId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasActive, HasStore } from "../run/scope.ts"
import { isForPerson } from "./wait-subject.ts"

/**
 * Whether one of these, or anything that works for it, has asked a person: it rests as `running` while its question, a
 * task of its own, waits in the inbox.
 */
export async function isAskingBelow(scope: HasStore & HasActive, live: readonly LiveTask[]): Promise<boolean> {
  const [first] = live
  if (!first) return false
  const ids = new Set(live.map(({ id }) => id))
  for (const { taskId, reason } of await scope.store.waits({ workspace: first.workspace, isOpen: true })) {
    if (isForPerson(reason) && (await isBelow(scope, taskId, ids))) return true
  }
  return false
}

export type LiveTask = Pick<TaskRecord, "id" | "workspace">

async function isBelow(
  { store, active }: HasStore & HasActive,
  id: TaskId,
  above: ReadonlySet<TaskId>,
): Promise<boolean> {
  let next: TaskId | null | undefined = id
  while (next && !above.has(next)) next = (active.get(next) ?? (await store.task(next)))?.parentTask
  return next !== null && next !== undefined
}
