import type { TaskId, WorkspaceId } from "../../../../task/id.ts"
import type { AskingStep } from "../../../../task/record.ts"
import type { StoredTask } from "../../../rules/stored-task.ts"
import { createMemory, type UndoLog } from "./memory.ts"
import { missing, toKey, toStepKey } from "./wants.ts"

export interface IdempotencyKey {
  readonly workspace: WorkspaceId
  readonly key: string
}

/** Which task has an idempotency key, and which a step has asked for. */
export interface TaskIndex {
  byIdempotencyKey(key: IdempotencyKey): TaskId | undefined
  byAskingStep(step: AskingStep): TaskId | undefined
  add(task: StoredTask): void
  remove(task: StoredTask): void
  learn(task: StoredTask): void
  /** Does nothing when its task was learned. */
  learnKey(key: IdempotencyKey): void
  /** The same for a step. */
  learnStep(step: AskingStep): void
}

export function createTaskIndex(undo: UndoLog): TaskIndex {
  const keys = createMemory<TaskId>(undo)
  const steps = createMemory<TaskId>(undo)

  function set({ details }: StoredTask, id: TaskId | undefined): void {
    const { workspace, idempotencyKey: key, askedBy } = details
    if (key !== null) keys.set(toKey([workspace, key]), id)
    if (askedBy) steps.set(toStepKey(askedBy), id)
  }

  return {
    byIdempotencyKey({ workspace, key }) {
      const place = toKey([workspace, key])
      if (!keys.isKnown(place)) throw missing("idempotencyKey", { workspace, key })
      return keys.get(place)
    },
    byAskingStep(step) {
      const place = toStepKey(step)
      if (!steps.isKnown(place)) throw missing("askingStep", step)
      return steps.get(place)
    },
    add: (task) => set(task, task.details.id),
    remove: (task) => set(task, undefined),
    learn({ details }) {
      const { id, workspace, idempotencyKey: key, askedBy } = details
      if (key !== null) keys.learn(toKey([workspace, key]), id)
      if (askedBy) steps.learn(toStepKey(askedBy), id)
    },
    learnKey({ workspace, key }) {
      const place = toKey([workspace, key])
      if (!keys.isKnown(place)) keys.learn(place, undefined)
    },
    learnStep(step) {
      const place = toStepKey(step)
      if (!steps.isKnown(place)) steps.learn(place, undefined)
    },
  }
}
