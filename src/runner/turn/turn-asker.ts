import { isJsonObject, type JsonObject } from "../../base/json.ts"
import type { TaskId } from "../../task/id.ts"
import type { AskingStep, TaskRecord, TaskSummary } from "../../task/record.ts"
import type { ActiveRun } from "../run/active-run.ts"
import type { HasStore } from "../run/scope.ts"

const ASKER = "askedBy"

/** A caller in the foreground has no record: the step that made the call stands for it. */
export function withAsker(metadata: JsonObject, parent: ActiveRun | TaskRecord | null | undefined): JsonObject {
  if (!parent || !("standing" in parent) || parent.standing.in !== "foreground" || !parent.askedBy) return metadata
  return { ...metadata, [ASKER]: { ...parent.askedBy } }
}

/**
 * The task that asked for a turn. Of a call in the foreground it is what the call has become since, made again after a
 * crash or not, else the turn that made the call. Undefined: nobody asked, or it is not known.
 */
export async function findAsker({ store }: HasStore, turn: TaskSummary): Promise<TaskSummary | undefined> {
  if (turn.parentTask === null) return undefined
  const known = await store.task(turn.parentTask)
  if (known) return known
  const askedBy = readAsker((await store.task(turn.id))?.metadata ?? {})
  if (!askedBy) return undefined
  const { items } = await store.tasks({ askedBy }, { limit: 1 })
  return items[0] ?? store.task(askedBy.taskId)
}

function readAsker({ [ASKER]: kept }: JsonObject): AskingStep | undefined {
  if (!isJsonObject(kept)) return undefined
  const { taskId, run, key } = kept
  if (typeof taskId !== "string" || typeof run !== "number" || typeof key !== "string") return undefined
  return { taskId: taskId as TaskId, run, key }
}
