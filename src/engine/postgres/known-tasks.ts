import { createLiveMap } from "../../base/live-map.ts"
import type { TaskId } from "../../task/id.ts"
import { isStorable } from "./storable.ts"
import type { Changed } from "./working-set/memory.ts"
import type { TaskEntry } from "./working-set/task-rows.ts"

/**
 * Running tasks as the last transaction of this process that touched them has left them. Whoever locks one whose row is of
 * the same version still need not read it again: what runs here is written here, again and again.
 */
export interface KnownTasks {
  find(id: TaskId): KnownTask | undefined
  /** After a transaction was committed: its version, if it is known, and what it has changed. */
  learn(version: string | undefined, changes: readonly Changed<TaskEntry>[]): void
}

export interface KnownTask {
  readonly entry: TaskEntry
  /** The transaction that wrote its row, and the start of the server that it was on. */
  readonly version: string
}

/** Those that were not touched for longest are forgotten. */
const MOST_TASKS = 1_000

export function createKnownTasks(): KnownTasks {
  const known = createLiveMap<TaskId, KnownTask>()

  return {
    find: (id) => known.get(id),
    learn(version, changes) {
      for (const { before, after } of changes) {
        if (before) known.delete(before.task.details.id)
        if (!after || version === undefined || after.task.state.status !== "running") continue
        const { id, title } = after.task.details
        // The store has another one, with signs in place of what it cannot keep.
        if (!isStorable(title)) continue
        known.set(id, { entry: after, version })
      }
      if (known.size <= MOST_TASKS) return
      for (const { entry } of known.values().slice(0, known.size - MOST_TASKS)) known.delete(entry.task.details.id)
    },
  }
}
